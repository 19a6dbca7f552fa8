// Runs the Go sample: reads cases as JSON from standard input and writes the results to standard output.
package main

import (
	"encoding/json"
	"os"
	"time"

	"receiver/webhook"
)

func main() {
	var cases []struct {
		Secret, Body, ID, Timestamp, Standard, Ours string
		Now                                         int64
	}
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	results := [][]bool{}
	for _, delivery := range cases {
		body, now := []byte(delivery.Body), time.Unix(delivery.Now, 0)
		genuine := webhook.IsGenuine(delivery.Secret, delivery.ID, delivery.Timestamp, delivery.Standard, body, now)
		results = append(results, []bool{webhook.IsSigned(delivery.Secret, delivery.Ours, body), genuine})
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		panic(err)
	}
}
