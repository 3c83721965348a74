// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	appsv1alpha1 "github.com/windlass-operator/windlass/api/apps/v1alpha1"
	"github.com/windlass-operator/windlass/internal/status"
	"github.com/windlass-operator/windlass/internal/testkit"
)

// cable is a way to the API server that can be cut.
type cable struct {
	net.Listener

	to    string
	mu    sync.Mutex
	isCut bool
	open  map[net.Conn]bool
	// tried is how often it was tried.
	tried int
	// still holds back what is carried while somebody holds it.
	still sync.RWMutex
}

// behindCable returns the stage behind a cable. With the name of a server, which the certificate must have, it shares no connection with other
// tests of this process.
func (s *stage) behindCable(t *testing.T, namespace, server string) (*stage, *cable) {
	t.Helper()
	way := newCable(t, s.Config.Host)
	config := rest.CopyConfig(s.Config)
	config.Host, config.ServerName = way.url(), server
	return &stage{Harness: s.Harness, kubeconfig: kubeconfigFor(t, config, namespace)}, way
}

func newCable(t *testing.T, to string) *cable {
	t.Helper()
	server, err := url.Parse(to)
	must(t, err)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	out := &cable{Listener: listener, to: server.Host, open: map[net.Conn]bool{}}
	t.Cleanup(func() {
		_ = listener.Close()
		out.cut(true)
	})
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			go out.carry(from)
		}
	}()
	return out
}

func (c *cable) url() string { return "https://" + c.Addr().String() }

// cut ends all connections, and new ones at once, until it is mended.
func (c *cable) cut(yes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isCut = yes
	for each := range c.open {
		_ = each.Close()
	}
}

func (c *cable) carry(from net.Conn) {
	to, err := net.Dial("tcp", c.to) //nolint:noctx // it ends with the connection
	if err != nil {
		_ = from.Close()
		return
	}
	c.mu.Lock()
	c.open[from], c.open[to] = true, true
	c.tried++
	isCut := c.isCut
	c.mu.Unlock()
	if isCut {
		c.cut(true)
	}
	go func() { _, _ = io.Copy(held{from, &c.still}, to); _ = from.Close() }()
	_, _ = io.Copy(held{to, &c.still}, from)
	_ = to.Close()
}

// held is an end of a connection that receives nothing while the way is still.
type held struct {
	io.Writer

	still *sync.RWMutex
}

func (h held) Write(part []byte) (int, error) {
	h.still.RLock()
	defer h.still.RUnlock()
	return h.Writer.Write(part)
}

// TestViewSaysThatTheAPIServerIsSilent: a connection that stays open and carries nothing, as when a laptop has moved to another network, was
// noticed after 45 seconds, and a view told of it only after two more requests without an answer.
func TestViewSaysThatTheAPIServerIsSilent(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	namespace := s.Namespace(t)
	podSet(t, s, namespace, "web")
	far, way := s.behindCable(t, namespace, "localhost")           // the connections of others are checked less often
	view := far.watching(t, 80, "status", "podset/web", "--watch") // the cause must fit
	testkit.Eventually(t, "the view is drawn", func() bool { return strings.Contains(view.String(), "PoolNotFound") })
	way.still.Lock()
	defer way.still.Unlock()
	testkit.Eventually(t, "it says that the API server does not answer", func() bool {
		return strings.Contains(view.String(), "the API server at "+way.url()+" has not answered in time")
	})
}

// TestViewTriesOnceBeforeItSaysThatItIsCut: the client library tries eleven times, a second apart, and a tree said nothing for 22 seconds.
func TestViewTriesOnceBeforeItSaysThatItIsCut(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	far, way := s.behindCable(t, s.Namespace(t), "")
	way.cut(true)
	got := run(t, options{}, "--kubeconfig", far.kubeconfig, "status", "podset/web", "--watch")
	want := "cannot reach the API server at " + way.url() + ": it has closed the connection: is the cluster running?"
	if got.code != exitPrevented || !strings.Contains(got.err, want) {
		t.Errorf("ended with %d: %s", got.code, got.err)
	}
	way.mu.Lock()
	defer way.mu.Unlock()
	if way.tried > 2 {
		t.Errorf("tried %d times, for a list and an object", way.tried)
	}
}

// TestWatchSurvivesACut: a view says that the API server does not answer, shows what it has seen, and goes on when it answers.
func TestWatchSurvivesACut(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	namespace := s.Namespace(t)
	podSet(t, s, namespace, "web")
	far, way := s.behindCable(t, namespace, "")
	const gone = "cannot reach the API server at https://127.0.0.1"
	views := map[string]*liveOutput{
		"the tree":              far.watching(t, 100, "status", "podset/web", "--watch"),
		"the list":              far.watching(t, 100, "status", "podsets", "-n", namespace, "--watch"),
		"the tree in a pipe":    far.watching(t, 0, "status", "podset/web", "--watch"),
		"the list in a pipe":    far.watching(t, 0, "status", "podsets", "-n", namespace, "--watch"),
		"the ranking":           far.watching(t, 100, "top", "pools", "--watch", "--interval", "1s"),
		"the ranking in a pipe": far.watching(t, 0, "top", "pools", "--watch", "--interval", "1s"),
	}
	for name, view := range views {
		want := "PoolNotFound"
		if strings.Contains(name, "ranking") {
			want = "NAME"
		}
		testkit.Eventually(t, name+" is drawn", func() bool { return strings.Contains(view.String(), want) })
	}
	way.cut(true)
	for name, view := range views {
		testkit.Eventually(t, name+" says that it is cut", func() bool { return strings.Contains(view.String(), gone) })
	}
	set := &appsv1alpha1.PodSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
	testkit.EditStatus(t, s.Harness, set, func(of *appsv1alpha1.PodSet) {
		of.Status.Conditions = ready(metav1.ConditionTrue, status.ReasonReady, "All is well.")[:1]
	})
	way.cut(false)
	for name, view := range views {
		testkit.Eventually(t, name+" goes on", func() bool {
			text := view.String()
			after := text[strings.LastIndex(text, gone):]
			switch {
			case strings.HasSuffix(name, "in a pipe"):
				return strings.Contains(after, "it answers again")
			case name == "the ranking":
				return strings.Contains(after, toCorner+"NAME")
			default:
				return strings.Contains(after, "Ready"+colourOff) || strings.Contains(after, "1/1")
			}
		})
	}
}
