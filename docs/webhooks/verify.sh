# Verifies that a delivery comes from the service, with a POSIX shell and openssl. Use it for manual debugging
# only: it does not compare in constant time, and it passes the secret as a program argument.

# is_genuine SECRET ID TIMESTAMP SIGNATURE BODY_FILE [NOW]
# Verifies the Standard Webhooks headers: the signature, and the timestamp to prevent replay attacks.
is_genuine() {
  now=${6:-$(date +%s)}
  case $3 in '' | *[!0-9]* | ????????????*) return 1 ;; esac
  [ $((now - $3)) -le 300 ] && [ $(($3 - now)) -le 300 ] || return 1
  key=$(printf %s "${1#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
  [ -n "$key" ] || return 1
  mac=$({ printf '%s.%s.' "$2" "$3" && cat "$5"; } |
    openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)
  case " $4 " in *" v1,$mac "*) ;; *) return 1 ;; esac
}

# is_signed SECRET HEADER BODY_FILE
# Verifies X-Service-Signature only. This signature does not cover a timestamp.
is_signed() {
  [ -n "$1" ] || return 1
  mac=$(openssl dgst -sha256 -hmac "$1" -r <"$3" | cut -d ' ' -f 1)
  case ",$(printf %s "$2" | tr -d ' ')," in *",sha256=$mac,"*) ;; *) return 1 ;; esac
}
