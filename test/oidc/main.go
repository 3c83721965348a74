// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

// Command oidc is an OpenID provider, built from the certified library of Zitadel with its storage in memory: the real thing that people log in
// at, for tests. It serves TLS on a free port of the loopback address, prints its issuer, and ends when its standard input does. Nothing of
// Windlass imports it.
//
//	oidc -cert cert.pem -key key.pem -redirect https://127.0.0.1:8090/v1/session/oidc/callback
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
)

// The clients that may log people in here, and their secret. The API server of the tests takes tokens of the first one only.
const (
	clientID     = "windlass"
	strangerID   = "stranger"
	clientSecret = "a secret of the tests"
)

func main() {
	cert, key := flag.String("cert", "", "`file` with the certificate"), flag.String("key", "", "`file` with its key")
	redirect := flag.String("redirect", "", "`URLs` that people may be sent back to, separated by commas")
	flag.Parse()
	if err := serve(*cert, *key, strings.Split(*redirect, ",")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(cert, key string, redirect []string) error {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("cannot listen: %w", err)
	}
	issuer := "https://" + listener.Addr().String()
	storage.RegisterClients(storage.WebClient(clientID, clientSecret, redirect...), storage.WebClient(strangerID, clientSecret, redirect...))
	provider := exampleop.SetupServer(issuer, storage.NewStorage(storage.NewUserStore(issuer)), slog.New(slog.DiscardHandler), false)
	server := &http.Server{
		Handler:           telling(provider),
		ReadHeaderTimeout: 10 * time.Second,
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // which ends with the test, however that ends
		_ = server.Close()
	}()
	fmt.Println(issuer)
	if err := server.ServeTLS(listener, cert, key); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("cannot serve: %w", err)
	}
	return nil
}

// telling prints a line for each token that somebody has asked for.
func telling(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if grant := r.PostFormValue("grant_type"); grant != "" {
			fmt.Println("asked for a token with", grant)
		}
		next.ServeHTTP(w, r)
	})
}
