// Receives webhooks: verifies each request, answers at once, ignores duplicates. Needs only Go 1.19 or newer.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	maxBytes  = 1 << 20
	maxIDs    = 10_000
	tolerance = 5 * time.Minute
)

// Event is the body of a request.
type Event struct {
	ID        string `json:"id"`
	EventType string `json:"event_type"`
	Data      struct {
		Document struct {
			Title string `json:"title"`
		} `json:"document"`
	} `json:"data"`
}

func main() {
	secret := os.Getenv("WEBHOOK_SECRET")
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || !strings.HasPrefix(secret, "whsec_") {
		fmt.Fprintln(os.Stderr, "Set WEBHOOK_SECRET to the secret of the webhook (whsec_…).")
		os.Exit(2)
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("Listening on http://%s/\n", listener.Addr())
	server := &http.Server{Handler: receive(key), ReadTimeout: 10 * time.Second}
	log.Fatal(server.Serve(listener))
}

// processEvent is the place for your work.
func processEvent(event Event) {
	fmt.Println(event.EventType, event.Data.Document.Title)
}

// receive answers requests. The service waits ten seconds for the answer, so another goroutine does the work.
func receive(key []byte) http.HandlerFunc {
	processed := processedIDs{known: map[string]bool{}}
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBytes))
		if err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		if !isGenuine(key, r.Header, body, time.Now()) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var event Event
		if err := json.Unmarshal(body, &event); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if processed.add(event.ID) {
			go processEvent(event)
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

// isGenuine verifies the signature, and the timestamp to prevent replay attacks (https://www.standardwebhooks.com).
func isGenuine(key []byte, header http.Header, body []byte, now time.Time) bool {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseUint(timestamp, 10, 62)
	if err != nil || now.Sub(time.Unix(int64(seconds), 0)).Abs() > tolerance {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	// during a rotation of the secret there are several signatures
	for _, one := range strings.Split(header.Get("webhook-signature"), " ") {
		if hmac.Equal([]byte(one), expected) {
			return true
		}
	}
	return false
}

// processedIDs has the ids of the last events. Use a table with a unique id instead if your receiver can restart.
type processedIDs struct {
	mutex sync.Mutex
	known map[string]bool
	order []string
}

// add returns whether an event is new, and remembers its id.
func (ids *processedIDs) add(id string) bool {
	ids.mutex.Lock()
	defer ids.mutex.Unlock()
	if ids.known[id] {
		return false
	}
	ids.known[id] = true
	ids.order = append(ids.order, id)
	if len(ids.order) > maxIDs {
		delete(ids.known, ids.order[0])
		ids.order = ids.order[1:]
	}
	return true
}
