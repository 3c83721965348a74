// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/windlass-operator/windlass/internal/gateway/access"
	"github.com/windlass-operator/windlass/internal/gateway/view"
)

// caller returns a caller of that name.
func caller(name string) *access.Caller { return &access.Caller{User: &user.DefaultInfo{Name: name}} }

// TestAttackSurveysAtOnce has a caller who asks for everything again and again. The next one used to wait behind all of that, and read in the end
// that the API server did not answer.
func TestAttackSurveysAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &API{surveys: access.NewTurns(maxSurveys)}
		ctx, cancel := context.WithCancel(t.Context())
		var asking sync.WaitGroup
		defer asking.Wait()
		defer cancel()
		running, refused := 0, 0
		for range 50 {
			asking.Go(func() {
				leave, err := a.survey(ctx, caller("ann"))
				if problem, busy := errors.AsType[*view.Problem](err); busy && problem.Code == "Busy" && problem.RetryAfter != "" {
					refused++
					return
				}
				running++
				<-ctx.Done()
				leave()
			})
			synctest.Wait()
		}
		if running != 1 || refused == 0 || refused > 40 {
			t.Errorf("%d surveys of one caller run and %d are refused, want 1 and some", running, refused)
		}
		through := false
		asking.Go(func() {
			leave, err := a.survey(ctx, caller("ben"))
			if err != nil {
				t.Errorf("somebody else is refused: %v", err)
				return
			}
			through = true
			leave()
		})
		if synctest.Wait(); !through {
			t.Error("somebody else waits")
		}
	})
}

// TestSurveysOfManyCallers holds how many run at the same time, and who waits.
func TestSurveysOfManyCallers(t *testing.T) {
	t.Parallel()
	a := &API{surveys: access.NewTurns(maxSurveys)}
	var leave func()
	for i := range maxSurveys {
		var err error
		if leave, err = a.survey(t.Context(), caller(strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.survey(gone, caller("late")); err == nil {
		t.Error("one more runs than there are slots")
	}
	leave()
	if _, err := a.survey(t.Context(), caller("late")); err != nil {
		t.Errorf("a slot that was left: %v", err)
	}
}

// TestWhoMayListNoMachinesWaitsForNobody asks for hosts without the right to list machines, while others survey: the refusal used to wait for a turn, and
// then to keep one.
func TestWhoMayListNoMachinesWaitsForNobody(t *testing.T) {
	t.Parallel()
	a, _ := listing(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Type", mediaJSON)
		_, _ = w.Write([]byte(`{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","status":{"allowed":false}}`))
	}, func() []string { return []string{"shop"} })
	a.surveys = access.NewTurns(maxSurveys)
	a.machines, _ = a.Hub.Kind(view.MachinesPlural)
	for i := range maxSurveys {
		if _, err := a.survey(t.Context(), caller(strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(access.WithCaller(t.Context(), caller("ann")), 10*time.Second)
	defer cancel()
	_, err := a.listHosts(ctx, &Conditional{})
	if problem, refused := errors.AsType[*view.Problem](err); !refused || problem.Status != http.StatusForbidden {
		t.Errorf("the hosts are refused with %v", err)
	}
}
