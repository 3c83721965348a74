// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// root is where the API server keeps all objects.
const root = "/registry/"

// registry is the etcd of a control plane. One question to it tells the versions of all objects, for which the API server would have to be
// asked for each kind. The answer is never older than what was written before the question.
type registry struct {
	config clientv3.Config
	// address tells where etcd is: one that was killed starts on another port if somebody has taken its own meanwhile.
	address func() (string, error)
	// answering is how long etcd may take for an answer before the connection is taken for broken.
	answering time.Duration

	mutex  sync.Mutex
	client *clientv3.Client
}

// answering is how long a registry usually lets etcd take before it connects anew.
const answering = 10 * time.Second

// openRegistry connects to the etcd of a lane, with the credentials of its API server.
func (l *lane) openRegistry() (*registry, error) {
	dir := filepath.Join(l.Dir, "devcluster", "clusters", l.Name)
	pki := func(name string) string { return filepath.Join(dir, "pki", name) }
	files := transport.TLSInfo{CertFile: pki("etcd-client.crt"), KeyFile: pki("etcd-client.key"), TrustedCAFile: pki("etcd-ca.crt")}
	config, err := files.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("cannot connect to etcd: %w", err)
	}
	return connectRegistry(func() (string, error) { return etcdAddress(filepath.Join(dir, "cluster.json")) }, config)
}

// etcdAddress reads where etcd is from the record of a control plane.
func etcdAddress(file string) (string, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("cannot find etcd: %w", err)
	}
	var record struct {
		Ports struct {
			Etcd int `json:"etcd"`
		} `json:"ports"`
	}
	if err := json.Unmarshal(raw, &record); err != nil || record.Ports.Etcd == 0 {
		return "", fmt.Errorf("cannot find etcd: the record of the control plane is %q", raw)
	}
	return "https://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(record.Ports.Etcd)), nil
}

// connectRegistry connects to the etcd at an address.
func connectRegistry(address func() (string, error), config *tls.Config) (*registry, error) {
	r := &registry{answering: answering, address: address, config: clientv3.Config{TLS: config, Logger: zap.NewNop()}}
	if err := r.connect(); err != nil {
		return nil, err
	}
	return r, nil
}

// connect connects, again if there is a connection.
func (r *registry) connect() error {
	address, err := r.address()
	if err != nil {
		return err
	}
	config := r.config
	config.Endpoints = []string{address}
	client, err := clientv3.New(config)
	if err != nil {
		return fmt.Errorf("cannot connect to etcd: %w", err)
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.client != nil {
		_ = r.client.Close() // which is broken
	}
	r.client = client
	return nil
}

func (r *registry) connected() *clientv3.Client {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.client
}

// alarm raises or lifts the alarm of a member that has no space left.
func (r *registry) alarm(ctx context.Context, action etcdserverpb.AlarmRequest_AlarmAction) error {
	request := &etcdserverpb.AlarmRequest{Action: action, Alarm: etcdserverpb.AlarmType_NOSPACE}
	if _, err := etcdserverpb.NewMaintenanceClient(r.connected().ActiveConnection()).Alarm(ctx, request); err != nil {
		return fmt.Errorf("cannot tell etcd whether it has space: %w", err)
	}
	return nil
}

// close ends the connection, if there is one.
func (r *registry) close() error {
	if r == nil {
		return nil
	}
	return r.connected().Close()
}

// versions are the versions of objects by their keys in etcd. They are what the API server calls a resourceVersion.
type versions map[string]int64

// versions returns those of all objects.
func (r *registry) versions(ctx context.Context) (versions, error) {
	answer, err := r.keys(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot ask etcd for the versions of objects: %w", err)
	}
	if answer.More || len(answer.Kvs) == 0 {
		return nil, errors.New("cannot ask etcd for the versions of objects: the answer is not complete")
	}
	all := make(versions, len(answer.Kvs))
	for _, entry := range answer.Kvs {
		all[string(entry.Key)] = entry.ModRevision
	}
	return all, nil
}

// keys asks for all keys with their versions, again on a new connection if the answer does not come.
func (r *registry) keys(ctx context.Context) (*clientv3.GetResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		asking, stop := context.WithTimeout(ctx, r.answering)
		answer, err := r.connected().Get(asking, root, clientv3.WithPrefix(), clientv3.WithKeysOnly())
		stop()
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return answer, err
		}
		if err := r.connect(); err != nil {
			return nil, err
		}
	}
}

// folders sorts keys by the folder that they are in, and returns those in none of them by themselves.
func (v versions) folders(known map[string]bool) (sorted map[string]versions, rest versions) {
	sorted, rest = map[string]versions{}, versions{}
	for key, version := range v {
		folder := path.Dir(key) // of an object without a namespace
		if !known[folder] {
			folder = path.Dir(folder)
		}
		if !known[folder] {
			rest[key] = version
			continue
		}
		if sorted[folder] == nil {
			sorted[folder] = versions{}
		}
		sorted[folder][key] = version
	}
	return sorted, rest
}

// isPartOf says whether all of these versions are among others.
func (v versions) isPartOf(others versions) bool {
	for key, version := range v {
		if others[key] != version {
			return false
		}
	}
	return true
}

// newest is the highest version.
func (v versions) newest() int64 {
	var newest int64
	for _, version := range v {
		newest = max(newest, version)
	}
	return newest
}
