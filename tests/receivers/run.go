// Runs the sample for Go: cases as JSON on standard input, verdicts on standard output.
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
	verdicts := [][]bool{}
	for _, one := range cases {
		body, now := []byte(one.Body), time.Unix(one.Now, 0)
		genuine := webhook.IsGenuine(one.Secret, one.ID, one.Timestamp, one.Standard, body, now)
		verdicts = append(verdicts, []bool{webhook.IsSigned(one.Secret, one.Ours, body), genuine})
	}
	if err := json.NewEncoder(os.Stdout).Encode(verdicts); err != nil {
		panic(err)
	}
}
