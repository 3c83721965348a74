// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRun(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		events string
		short  bool
		want   string
		ok     bool
	}{
		"a test with subtests is their sum": {
			events: `
{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestA/one"}
{"Action":"run","Package":"p","Test":"TestA/two"}
{"Action":"pass","Package":"p","Test":"TestA/one","Elapsed":0.01}
{"Action":"pass","Package":"p","Test":"TestA/two","Elapsed":6}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":6.01}
{"Action":"pass","Package":"p","Elapsed":6.5}`,
			want: `
ok    p  6.5s  2 run

Slow:
  p.TestA/two  6s

2 passed, 0 failed, 0 skipped
`,
			ok: true,
		},
		"a skip gives its reason": {
			events: `
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:7: needs Docker\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestA","Elapsed":0}
{"Action":"pass","Package":"p","Elapsed":0.1}`,
			want: `
ok    p  100ms  1 run

Skipped:
  p.TestA
      a_test.go:7: needs Docker

0 passed, 0 failed, 1 skipped
`,
			ok: true,
		},
		"a short report only counts what was skipped": {
			events: `
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"skip","Package":"p","Test":"TestA","Elapsed":0}
{"Action":"pass","Package":"p","Elapsed":0.1}`,
			short: true,
			want:  "\nok    p  100ms  1 run\n\n0 passed, 0 failed, 1 skipped\n",
			ok:    true,
		},
		"a failure is printed in full and counted once": {
			events: `
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestA/one"}
{"Action":"output","Package":"p","Test":"TestA/one","Output":"    a_test.go:7: want 1, got 2\n"}
{"Action":"fail","Package":"p","Test":"TestA/one","Elapsed":0.02}
{"Action":"fail","Package":"p","Test":"TestA","Elapsed":0.02}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"fail","Package":"p","Elapsed":0.1}`,
			want: `

p.TestA/one
    a_test.go:7: want 1, got 2
FAIL  p  100ms

Failed:
  p.TestA/one  20ms
          a_test.go:7: want 1, got 2

0 passed, 1 failed, 0 skipped
`,
		},
		"a failure comes again below the tests that ran after it": {
			events: `
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestA/one"}
{"Action":"output","Package":"p","Test":"TestA/one","Output":"=== RUN   TestA/one\n"}
{"Action":"output","Package":"p","Test":"TestA/one","Output":"    a_test.go:7: report (-want +got):\n"}
{"Action":"output","Package":"p","Test":"TestA/one","Output":"        --- a\n"}
{"Action":"output","Package":"p","Test":"TestA/one","Output":"    --- FAIL: TestA/one (0.02s)\n"}
{"Action":"fail","Package":"p","Test":"TestA/one","Elapsed":0.02}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:9: one object is left\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- FAIL: TestA (0.02s)\n"}
{"Action":"fail","Package":"p","Test":"TestA","Elapsed":0.02}
{"Action":"fail","Package":"p","Elapsed":0.1}
{"Action":"run","Package":"q","Test":"TestB"}
{"Action":"pass","Package":"q","Test":"TestB","Elapsed":0.02}
{"Action":"pass","Package":"q","Elapsed":0.1}`,
			want: `

p.TestA/one
=== RUN   TestA/one
    a_test.go:7: report (-want +got):
        --- a
    --- FAIL: TestA/one (0.02s)

p.TestA
    a_test.go:9: one object is left
--- FAIL: TestA (0.02s)
FAIL  p  100ms
ok    q  100ms  1 run

Failed:
  p.TestA/one  20ms
          a_test.go:7: report (-want +got):
              --- a
  p.TestA  20ms
          a_test.go:9: one object is left

1 passed, 1 failed, 0 skipped
`,
		},
		"a package that does not compile has failed": {
			events: `
{"ImportPath":"p [p.test]","Action":"build-output","Output":"p.go:3: undefined: x\n"}
{"ImportPath":"p [p.test]","Action":"build-fail"}
{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}
{"Action":"fail","Package":"p","Elapsed":0,"FailedBuild":"p [p.test]"}`,
			want: `
p.go:3: undefined: x
FAIL	p [build failed]
FAIL  p  0s

Failed:
  p
      p.go:3: undefined: x
      FAIL	p [build failed]

0 passed, 1 failed, 0 skipped
`,
		},
		"a test that the process took with it has failed": {
			events: `
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"exit status 2\n"}
{"Action":"fail","Package":"p","Elapsed":1}`,
			want: `

p.TestA

exit status 2
FAIL  p  1s

Failed:
  p.TestA
  p
      exit status 2

0 passed, 1 failed, 0 skipped
`,
		},
		"what is no event is passed on": {
			events: "\ngo: no such module",
			want:   "\ngo: no such module\n0 passed, 0 failed, 0 skipped\n",
			ok:     true,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			ok, err := run(strings.NewReader(tc.events), &out, tc.short)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
			if ok != tc.ok {
				t.Errorf("ok: want %t, got %t", tc.ok, ok)
			}
		})
	}
}
