package manager

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTokenSubject_ReadsTheSubjectOrSaysWhatIsWrong(t *testing.T) {
	claims := func(json string) string {
		return "header." + base64.RawURLEncoding.EncodeToString([]byte(json)) + ".signature"
	}
	cases := map[string]struct{ content, want, wrong string }{
		"a token":          {claims(`{"sub":"system:serviceaccount:sei-operator:sei-operator","aud":["sei-sidecar"]}`) + "\n", "system:serviceaccount:sei-operator:sei-operator", ""},
		"empty":            {"\n", "", "is empty"},
		"no token":         {"secret", "", "it is not a JSON web token"},
		"claims no base64": {"a.?.c", "", "its claims are not base64"},
		"claims no JSON":   {claims("sub"), "", "its claims are not JSON"},
		"no subject":       {claims(`{"iss":"x"}`), "", "it names no subject"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "token")
			if err := os.WriteFile(file, []byte(tc.content), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := tokenSubject(file)
			if got != tc.want || (err == nil) != (tc.wrong == "") {
				t.Fatalf("tokenSubject = %q, %v", got, err)
			}
			if err != nil && (!strings.Contains(err.Error(), tc.wrong) || !strings.Contains(err.Error(), file)) {
				t.Errorf("err = %v; want it to name the file and %q", err, tc.wrong)
			}
			if err != nil && strings.TrimSpace(tc.content) != "" && strings.Contains(err.Error(), strings.TrimSpace(tc.content)) {
				t.Errorf("err = %v; it shows the token", err)
			}
		})
	}
	if _, err := tokenSubject(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("a file that is not there was read")
	}
}
