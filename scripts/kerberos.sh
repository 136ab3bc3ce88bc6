#!/bin/sh
# Tests GSSAPI against a real KDC, unpacked from Debian's packages into the per-user cache; nothing is installed on
# the machine. Usage: scripts/kerberos.sh PYTHON [arguments of pytest]
set -eu
python=$1
shift
cache=${HELIOGRAPH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/heliograph}/kerberos
root=$cache/root
lib=$root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)

fail() { echo "error: $1" >&2; exit 1; }

if [ ! -e "$cache/.ready" ]; then
    rm -rf "$cache"
    mkdir -p "$cache/debs" "$root"
    (cd "$cache/debs" && apt-get download -qq krb5-kdc krb5-admin-server krb5-user krb5-multidev libkrb5-dev comerr-dev \
        libgssapi-krb5-2 libgssrpc4 libk5crypto3 libkadm5clnt-mit12 libkadm5srv-mit12 libkdb5-10 libkrb5-3 \
        libkrb5support0 libcom-err2 libkeyutils1 libverto1 libverto-libev1 libev4) ||
        fail "Kerberos: apt-get download of Debian's packages failed"
    for deb in "$cache"/debs/*.deb; do dpkg -x "$deb" "$root"; done
    GSSAPI_COMPILER_ARGS="-I$root/usr/include/mit-krb5 -I$root/usr/include" \
        GSSAPI_LINKER_ARGS="-L$lib/mit-krb5 -L$lib -lgssapi_krb5" GSSAPI_MAIN_LIB="$lib/libgssapi_krb5.so.2" \
        "$python" -m pip install --quiet --disable-pip-version-check --target "$cache/site" gssapi ||
        fail "Kerberos: building python-gssapi failed; install a C compiler and Python's headers"
    touch "$cache/.ready"
fi
export PATH="$root/usr/sbin:$root/usr/bin:$PATH"
export LD_LIBRARY_PATH="$lib:$root/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)"
export KRB5_KDB_MODULES="$lib/krb5/plugins/kdb"
export PYTHONPATH="$cache/site${PYTHONPATH:+:$PYTHONPATH}"
exec "$python" -m pytest tests/real/security/test_kerberos.py "$@"
