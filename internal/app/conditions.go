// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-operator/windlass/internal/kube"
)

// The limits of one scrape. The API's enums bound the reasons; the types of conditions are free for everybody who may write a
// status, and must not become series without end.
const (
	maxConditionSeries = 1000
	scrapeTimeout      = 5 * time.Second
)

// conditions counts the objects of Windlass by what their conditions say, whenever the metrics are read. It reads the caches: nothing is
// kept up to date between two scrapes, so that nothing can be out of date.
type conditions struct {
	reader client.Reader
	scheme *runtime.Scheme
	lists  []schema.GroupVersionKind
	now    func() time.Time
	log    logr.Logger

	count    *prometheus.Desc
	deleting *prometheus.Desc
	oldest   *prometheus.Desc
}

// hasConditions is every object of Windlass.
type hasConditions interface {
	client.Object
	GetConditions() []metav1.Condition
}

// addConditions makes the leader publish the conditions of the kinds that the controllers read.
func addConditions(mgr manager.Manager, list []controller, given tools) error {
	var lists []schema.GroupVersionKind
	for _, object := range kinds(list) {
		if _, ours := object.(hasConditions); !ours {
			continue
		}
		gvk, err := apiutil.GVKForObject(object, mgr.GetScheme())
		if err != nil {
			return fmt.Errorf("cannot tell the kind of %T: %w", object, err)
		}
		lists = append(lists, gvk.GroupVersion().WithKind(gvk.Kind+"List"))
	}
	counts := &conditions{
		reader: mgr.GetClient(), scheme: mgr.GetScheme(), lists: lists, now: given.now, log: given.log,
		count: prometheus.NewDesc("windlass_resource_conditions",
			"Objects by kind and by the type, status and reason of a condition. Only the leader serves it.",
			[]string{"kind", "condition", "status", "reason"}, nil),
		deleting: prometheus.NewDesc("windlass_resource_deleting",
			"Objects of a kind whose deletion has begun and not ended. Only the leader serves it.", []string{"kind"}, nil),
		oldest: prometheus.NewDesc("windlass_resource_deletion_age_seconds",
			"How long the oldest deletion of a kind has been going on, 0 without one. Only the leader serves it.",
			[]string{"kind"}, nil),
	}
	return mgr.Add(kube.Publish("the conditions", func(context.Context) prometheus.Collector { return counts }))
}

// Describe implements [prometheus.Collector].
func (c *conditions) Describe(out chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{c.count, c.deleting, c.oldest} {
		out <- desc
	}
}

// Collect implements [prometheus.Collector]. A kind that cannot be read is left out and logged: a missing series can raise an alert,
// a wrong one cannot.
func (c *conditions) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	left := maxConditionSeries
	for _, gvk := range c.lists {
		kind := strings.TrimSuffix(gvk.Kind, "List")
		counted, err := c.countKind(ctx, gvk)
		if err != nil {
			c.log.Error(err, "Cannot count the conditions", "kind", kind)
			continue
		}
		out <- prometheus.MustNewConstMetric(c.deleting, prometheus.GaugeValue, float64(counted.deleting), kind)
		out <- prometheus.MustNewConstMetric(c.oldest, prometheus.GaugeValue, counted.oldest.Seconds(), kind)
		for of, n := range counted.conditions {
			if left--; left < 0 {
				c.log.Info("Too many different conditions to count", "limit", maxConditionSeries)
				return
			}
			out <- prometheus.MustNewConstMetric(c.count, prometheus.GaugeValue, float64(n), kind, of.condition, of.status, of.reason)
		}
	}
}

// conditionKey is what objects are counted by.
type conditionKey struct{ condition, status, reason string }

// counted is what the objects of one kind show.
type counted struct {
	conditions map[conditionKey]int
	deleting   int
	oldest     time.Duration
}

func (c *conditions) countKind(ctx context.Context, gvk schema.GroupVersionKind) (counted, error) {
	result := counted{conditions: map[conditionKey]int{}}
	empty, err := c.scheme.New(gvk)
	if err != nil {
		return result, err
	}
	list, isList := empty.(client.ObjectList)
	if !isList {
		return result, fmt.Errorf("%T is not a list of objects", empty)
	}
	// Nothing is changed here, so the objects of the cache need no copies.
	if err := c.reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return result, err
	}
	now := c.now()
	return result, apimeta.EachListItem(list, func(item runtime.Object) error {
		object, ours := item.(hasConditions)
		if !ours {
			return fmt.Errorf("%T has no conditions", item)
		}
		for _, of := range object.GetConditions() {
			result.conditions[conditionKey{of.Type, string(of.Status), of.Reason}]++
		}
		if since := object.GetDeletionTimestamp(); since != nil {
			result.deleting++
			result.oldest = max(result.oldest, now.Sub(since.Time))
		}
		return nil
	})
}
