package certificates

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// apiServer counts requests, can be unavailable, and can refuse changes.
type apiServer struct {
	client.Client
	reads, writes int
	away          error
	refused       error
}

func newAPIServer(objects ...client.Object) *apiServer {
	s := &apiServer{}
	s.Client = fake.NewClientBuilder().WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, under client.WithWatch, key client.ObjectKey, obj client.Object, o ...client.GetOption) error {
			s.reads++
			if err := errors.Join(s.away, ctx.Err()); err != nil {
				return err
			}
			return under.Get(ctx, key, obj, o...)
		},
		Create: func(ctx context.Context, under client.WithWatch, obj client.Object, o ...client.CreateOption) error {
			s.writes++
			return under.Create(ctx, obj, o...)
		},
		Patch: func(ctx context.Context, under client.WithWatch, obj client.Object, p client.Patch, o ...client.PatchOption) error {
			s.writes++
			if s.refused != nil {
				return s.refused
			}
			return under.Patch(ctx, obj, p, o...)
		},
	}).Build()
	return s
}

func newReplica(s *apiServer, now time.Time) (*Authority, *clocktesting.FakePassiveClock) {
	at := clocktesting.NewFakePassiveClock(now)
	return &Authority{Secrets: s, Namespace: "operator", Clock: at}, at
}

func issue(t *testing.T, a *Authority, name string) *Issued {
	t.Helper()
	issued, err := a.Issue(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return issued
}

// accepted verifies a certificate as a client that trusts an authority does.
func accepted(t *testing.T, a *Authority, issued *Issued, name string, now time.Time) error {
	t.Helper()
	roots, err := a.Roots(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(issued.Certificate)
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	_, err = leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: now})
	return err
}

func TestIssue_ProvesItsNameForItsTime_AndNothingElse(t *testing.T) {
	a, _ := newReplica(newAPIServer(), start)
	issued := issue(t, a, "u.n.ns.sidecar.sei.io")
	for what, c := range map[string]struct {
		name string
		at   time.Time
		ok   bool
	}{
		"its name":                {"u.n.ns.sidecar.sei.io", start, true},
		"a clock that is behind":  {"u.n.ns.sidecar.sei.io", start.Add(-30 * time.Minute), true},
		"another node":            {"u.m.ns.sidecar.sei.io", start, false},
		"the node made anew":      {"v.n.ns.sidecar.sei.io", start, false},
		"what would be below it":  {"x.u.n.ns.sidecar.sei.io", start, false},
		"shortly before its end":  {"u.n.ns.sidecar.sei.io", start.Add(Lifetime - time.Minute), true},
		"after its end":           {"u.n.ns.sidecar.sei.io", start.Add(Lifetime + time.Minute), false},
		"a day before it is made": {"u.n.ns.sidecar.sei.io", start.Add(-24 * time.Hour), false},
	} {
		if err := accepted(t, a, issued, c.name, c.at); (err == nil) != c.ok {
			t.Errorf("%s: %v, want no error: %t", what, err, c.ok)
		}
	}
	block, _ := pem.Decode(issued.Certificate)
	leaf, _ := x509.ParseCertificate(block.Bytes)
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: a.held.roots, CurrentTime: start, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err == nil {
		t.Error("it is good for a client too")
	}
	if renew := RenewAt(issued.NotBefore, issued.NotAfter); renew.Before(start.Add(Lifetime/2)) || !renew.Before(issued.NotAfter.Add(-Lifetime/4)) {
		t.Errorf("it is renewed at %s", renew)
	}
}

func TestAuthority_SeveralReplicas_ShareTheOneThatCameFirst(t *testing.T) {
	s := newAPIServer()
	first, _ := newReplica(s, start)
	second, _ := newReplica(s, start)
	issued := issue(t, first, "n")
	if err := accepted(t, second, issued, "n", start); err != nil {
		t.Error(err)
	}
	if ok, err := second.Trusts(t.Context(), issued.Issuer); !ok || err != nil {
		t.Errorf("the second replica trusts the first one's issuer: %t, %v", ok, err)
	}
	if s.writes != 1 {
		t.Errorf("%d writes, want one", s.writes)
	}
}

// The second replica notices the Secret only when it tries to create it.
func TestAuthority_LostRace_TakesTheOthers(t *testing.T) {
	s := newAPIServer()
	first, _ := newReplica(s, start)
	issued := issue(t, first, "n")
	second, _ := newReplica(s, start)
	made, err := second.create(t.Context(), start)
	if err != nil || !made.trusts(issued.Issuer) {
		t.Errorf("it has another authority (%v)", err)
	}
}

func TestAuthority_AtRest_ReadsOnceAnHour(t *testing.T) {
	s := newAPIServer()
	a, at := newReplica(s, start)
	issued := issue(t, a, "n")
	before := s.reads
	for range 59 {
		at.SetTime(at.Now().Add(time.Minute))
		if ok, err := a.Trusts(t.Context(), issued.Issuer); !ok || err != nil {
			t.Fatalf("%t, %v, want true and no error", ok, err)
		}
	}
	if s.reads != before {
		t.Errorf("%d reads in an hour", s.reads-before)
	}
	at.SetTime(at.Now().Add(2 * time.Minute))
	issue(t, a, "n")
	if s.reads != before+1 || s.writes != 1 {
		t.Errorf("%d reads and %d writes after it", s.reads-before, s.writes)
	}
}

func TestAuthority_NearItsEnd_AnotherIssuesAndBothAreTrusted(t *testing.T) {
	s := newAPIServer()
	a, at := newReplica(s, start)
	other, otherAt := newReplica(s, start)
	old := issue(t, a, "n")
	issue(t, other, "n") // it knows the first authority
	due := start.Add(authorityLifetime / 3 * 2)
	last := due.Add(-2 * time.Hour)
	at.SetTime(last)
	newest := issue(t, a, "n") // the last one of the old authority
	at.SetTime(due)
	next := issue(t, a, "n")
	if next.Issuer == old.Issuer {
		t.Fatal("the old authority still issues")
	}
	for _, c := range []*Issued{newest, next} {
		if err := accepted(t, a, c, "n", due.Add(time.Hour)); err != nil {
			t.Errorf("certificate of %s: %v", c.Issuer, err)
		}
	}
	if newest.NotAfter.After(start.Add(authorityLifetime)) {
		t.Error("a certificate outlives its authority")
	}
	// Another replica, which has not read the Secret since, finds out when it sees the issuer.
	otherAt.SetTime(start.Add(30 * time.Minute))
	if ok, err := other.Trusts(t.Context(), next.Issuer); !ok || err != nil {
		t.Errorf("another replica trusts it: %t, %v", ok, err)
	}
	at.SetTime(start.Add(authorityLifetime * 2))
	issue(t, a, "n")
	if a.held.trusts(old.Issuer) {
		t.Error("an authority that has expired is still in the bundle")
	}
}

func TestAuthority_DeletedSecret_AnotherOneThatTrustsNothingOfBefore(t *testing.T) {
	s := newAPIServer()
	a, at := newReplica(s, start)
	old := issue(t, a, "n")
	if err := s.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "operator", Name: SecretName}}); err != nil {
		t.Fatal(err)
	}
	at.SetTime(start.Add(readEvery))
	if ok, err := a.Trusts(t.Context(), old.Issuer); ok || err != nil {
		t.Errorf("it is trusted: %t, %v", ok, err)
	}
	if err := accepted(t, a, old, "n", start); !errors.As(err, new(x509.UnknownAuthorityError)) {
		t.Errorf("the certificate is judged %v", err)
	}
}

func TestAuthority_APIServerAway_GoesOnWithWhatItHas(t *testing.T) {
	s := newAPIServer()
	a, at := newReplica(s, start)
	issue(t, a, "n")
	s.away = errors.New("away")
	at.SetTime(start.Add(2 * readEvery))
	issue(t, a, "n")
	reads := s.reads
	issue(t, a, "n")
	if s.reads != reads {
		t.Error("it is asked again at once")
	}
	fresh, _ := newReplica(s, start)
	if _, err := fresh.Roots(t.Context()); !errors.Is(err, s.away) {
		t.Errorf("a replica that never had one says %v", err)
	}
}

// A caller that gave up says nothing about the API server: the read it started is completed, for
// the next caller.
func TestAuthority_CallerThatGaveUp_DoesNotEndTheReading(t *testing.T) {
	a, _ := newReplica(newAPIServer(), start)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Roots(gone); err != nil {
		t.Errorf("the authority was not read: %v", err)
	}
}

// An authority that is due still issues for months, and its replacement is retried.
func TestAuthority_CannotBeReplaced_IssuesUntilItsEnd(t *testing.T) {
	s := newAPIServer()
	a, at := newReplica(s, start)
	old := issue(t, a, "n")
	s.refused = errors.New("refused")
	at.SetTime(start.Add(authorityLifetime / 3 * 2))
	fresh, _ := newReplica(s, at.Now())
	for who, replica := range map[string]*Authority{"the replica that had it": a, "a new replica": fresh} {
		if issued := issue(t, replica, "n"); issued.Issuer != old.Issuer {
			t.Errorf("%s: certificate of %s, want one of %s", who, issued.Issuer, old.Issuer)
		}
	}
	writes := s.writes
	issue(t, a, "n")
	if s.writes != writes {
		t.Errorf("%d writes right after the refused one, want none", s.writes-writes)
	}
	s.refused = nil
	at.SetTime(at.Now().Add(readAgain))
	if issued := issue(t, a, "n"); issued.Issuer == old.Issuer {
		t.Error("the authority is not replaced when it can be")
	}
	s.refused = errors.New("refused")
	ended, _ := newReplica(s, at.Now().Add(authorityLifetime*2))
	if _, err := ended.Issue(t.Context(), "n"); !errors.Is(err, s.refused) {
		t.Errorf("an authority that has expired and cannot be replaced says %v, want %v", err, s.refused)
	}
}

func TestAuthority_SecretThatHoldsNone_IsNamedAndKept(t *testing.T) {
	s := newAPIServer(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "operator", Name: SecretName}, Data: map[string][]byte{corev1.TLSCertKey: []byte("mine")},
	})
	a, _ := newReplica(s, start)
	if _, err := a.Issue(t.Context(), "n"); err == nil || !strings.Contains(err.Error(), "operator/"+SecretName) || s.writes != 0 {
		t.Errorf("%v, after %d writes", err, s.writes)
	}
}
