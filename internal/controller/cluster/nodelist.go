// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxUnlisted bounds what is told of nodes that cannot be listed, in bytes.
const maxUnlisted = 256

// Kubernetes supports clusters of up to 5,000 nodes. Pages keep each answer small, and maxPages keeps them from going on without end.
const (
	pageOfNodes = 250
	maxPages    = 40
	maxNodes    = maxPages * pageOfNodes
)

// maxNode bounds a node as JSON, in bytes: etcd takes no larger object.
const maxNode = 2 << 20

var (
	// errManyNodes says that not all nodes were read: to tell of some of them would not be true.
	errManyNodes = errors.New("there are too many of them")
	// errNoList says that something else has answered.
	errNoList = errors.New("the answer is not a list of nodes")
)

// list reads the nodes, and keeps of them what a status can show.
func (p *probe) list(ctx context.Context) ([]node, error) {
	var nodes []node
	next := ""
	for range maxPages {
		body, err := p.client.CoreV1().RESTClient().Get().Resource("nodes").
			Param("limit", strconv.Itoa(pageOfNodes)).Param("continue", next).Stream(ctx)
		if err != nil {
			return nil, err
		}
		page, more, err := readPage(body)
		body.Close()
		if err != nil {
			return nil, err
		}
		if nodes = append(nodes, page...); more == "" {
			return byName(nodes), nil
		}
		next = more
	}
	return nil, errManyNodes
}

// readPage reads a page of a list of nodes, and where the next one begins.
func readPage(from io.Reader) (nodes []node, next string, err error) {
	decoder := json.NewDecoder(from)
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, "", cmp.Or(err, errNoList)
	}
	kind, meta := "", metav1.ListMeta{}
	for decoder.More() {
		key, err := decoder.Token()
		switch {
		case err != nil:
		case key == "kind":
			err = decoder.Decode(&kind)
		case key == "metadata":
			err = decoder.Decode(&meta)
		case key == "items":
			nodes, err = readItems(decoder)
		default:
			err = decoder.Decode(&json.RawMessage{})
		}
		if err != nil {
			return nil, "", err
		}
	}
	if _, err := decoder.Token(); err != nil || kind != "NodeList" {
		return nil, "", cmp.Or(err, errNoList)
	}
	return nodes, meta.Continue, nil
}

// readItems reads nodes one after another: decoded as a whole, each "{}" of a list would take a thousand bytes. A node that cannot be read is left out.
func readItems(decoder *json.Decoder) ([]node, error) {
	if open, err := decoder.Token(); err != nil || open != json.Delim('[') {
		return nil, cmp.Or(err, errNoList)
	}
	var nodes []node
	for count := 0; decoder.More(); count++ {
		if count == maxNodes {
			return nil, errManyNodes
		}
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			return nil, err
		}
		var read corev1.Node
		if len(raw) > maxNode || json.Unmarshal(raw, &read) != nil {
			continue
		}
		if kept, valid := keep(&read); valid {
			nodes = append(nodes, kept)
		}
	}
	_, err := decoder.Token()
	return nodes, err
}
