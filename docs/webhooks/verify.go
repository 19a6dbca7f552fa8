// Package webhook verifies that a delivery comes from the service. It needs only the standard library.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

const tolerance = 5 * time.Minute

// IsGenuine verifies the Standard Webhooks headers: the signature, and the timestamp to prevent replays.
func IsGenuine(secret, id, timestamp, signature string, rawBody []byte, now time.Time) bool {
	seconds, err := strconv.ParseUint(timestamp, 10, 62)
	if err != nil || now.Sub(time.Unix(int64(seconds), 0)).Abs() > tolerance {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return false
	}
	mac := mac(key, []byte(id+"."+timestamp+"."), rawBody)
	return anyIs(strings.Split(signature, " "), "v1,"+base64.StdEncoding.EncodeToString(mac))
}

// IsSigned verifies X-Service-Signature only. This signature does not cover a timestamp.
func IsSigned(secret, header string, rawBody []byte) bool {
	return secret != "" && anyIs(strings.Split(header, ","), "sha256="+hex.EncodeToString(mac([]byte(secret), rawBody)))
}

func mac(key []byte, parts ...[]byte) []byte {
	hash := hmac.New(sha256.New, key)
	for _, part := range parts {
		hash.Write(part)
	}
	return hash.Sum(nil)
}

func anyIs(given []string, expected string) bool {
	for _, one := range given {
		if hmac.Equal([]byte(strings.TrimSpace(one)), []byte(expected)) {
			return true
		}
	}
	return false
}
