"""Record batches as bytes: headers, rewriting, repacking, codecs. Pure."""
