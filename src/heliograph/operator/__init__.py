"""`heliograph operator`: runs Strimzi's KafkaMirrorMaker2 resources as Heliograph's workers in Kubernetes."""
