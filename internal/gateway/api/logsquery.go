// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"net/url"
	"strconv"
)

// LogsQuery says which lines of a log are read.
type LogsQuery struct {
	Container  string `query:"container" maxLength:"63" doc:"Container. The default for one pod is the only one, or the one that the pod names; for several pods all of them"`
	Follow     bool   `query:"follow" doc:"Go on with new lines until the container ends or the reader leaves"`
	Previous   bool   `query:"previous" doc:"The log of the container before its last restart"`
	Timestamps bool   `query:"timestamps" doc:"Begin each line with its time"`
	Since      int    `query:"sinceSeconds" minimum:"0" doc:"Only lines of so many last seconds. The default is all"`
	Tail       int    `query:"tailLines" minimum:"-1" default:"-1" doc:"Only so many last lines of each log. The default is all"`
}

// query returns the parameters of the API server.
func (in *LogsQuery) query() url.Values {
	query := url.Values{}
	setIf(query, "container", in.Container)
	for name, set := range map[string]bool{"follow": in.Follow, "previous": in.Previous, "timestamps": in.Timestamps} {
		if set {
			query.Set(name, "true")
		}
	}
	if in.Since > 0 {
		query.Set("sinceSeconds", strconv.Itoa(in.Since))
	}
	if in.Tail >= 0 {
		query.Set("tailLines", strconv.Itoa(in.Tail))
	}
	return query
}
