# Checks that a delivery is from the service, with a POSIX shell and openssl: for looking into a problem by hand. A receiver
# should compare in constant time, and should not have its secret in the arguments of programs, as this has.

# is_genuine SECRET ID TIMESTAMP SIGNATURE BODY_FILE [NOW]: the Standard Webhooks headers, with the time
is_genuine() {
  now=${6:-$(date +%s)}
  case $3 in '' | *[!0-9]* | ????????????*) return 1 ;; esac
  [ $((now - $3)) -le 300 ] && [ $(($3 - now)) -le 300 ] || return 1
  key=$(printf %s "${1#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
  mac=$({ printf '%s.%s.' "$2" "$3" && cat "$5"; } |
    openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)
  case " $4 " in *" v1,$mac "*) ;; *) return 1 ;; esac
}

# is_signed SECRET HEADER BODY_FILE: X-Service-Signature alone, which says nothing about the time
is_signed() {
  mac=$(openssl dgst -sha256 -hmac "$1" -r <"$3" | cut -d ' ' -f 1)
  case ",$(printf %s "$2" | tr -d ' ')," in *",sha256=$mac,"*) ;; *) return 1 ;; esac
}
