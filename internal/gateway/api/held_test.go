// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/windlass-operator/windlass/internal/gateway/access"
)

// TestAttackBodiesFillTheMemory has a caller whose bodies are all held at the same time, as those are that arrive slowly. Each of them used to have
// room for as much as the largest.
func TestAttackBodiesFillTheMemory(t *testing.T) {
	t.Parallel()
	a := &API{Options: Options{Now: time.Now}, bodies: access.NewBudget(bodiesOfCaller, bodiesOfAll)}
	const size = 1 << 20
	send := func(who string) (share *access.Share, bytes int, err error) {
		share = a.bodies.Share(caller(who))
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/services", strings.NewReader(strings.Repeat(" ", size)))
		body, err := a.receive(httptest.NewRecorder(), request, maxBody, share)
		return share, len(body), err
	}
	held, refused := 0, 0
	shares := []*access.Share{}
	for range 200 {
		share, bytes, err := send("ann")
		switch {
		case err == nil:
			held += bytes
			shares = append(shares, share)
		case isBusy(err):
			refused++
			share.Release()
		default:
			t.Fatal(err)
		}
	}
	if held > bodiesOfCaller || held < bodiesOfCaller-size || refused == 0 {
		t.Errorf("%d bytes of one caller are held, and %d bodies refused", held, refused)
	}
	if _, _, err := send("ben"); err != nil {
		t.Errorf("somebody else: %v", err)
	}
	for _, share := range shares {
		share.Release()
	}
	if _, _, err := send("ann"); err != nil {
		t.Errorf("when they are answered: %v", err)
	}
}
