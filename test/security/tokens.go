package security

import "net/http"

// TokenName names something that a stranger may show.
type TokenName string

// What strangers show, and at the end what the operator does.
const (
	TokenNone        TokenName = "none"
	TokenGarbage     TokenName = "garbage"
	TokenRemoteUser  TokenName = "none, with a header that names the operator"
	TokenOtherNode   TokenName = "stolen from another node"
	TokenNodeBefore  TokenName = "stolen from a deleted node of the same name"
	TokenShared      TokenName = "of the audience that older sidecars share"
	TokenAPI         TokenName = "the operator's for the API server"
	TokenExpired     TokenName = "the operator's for this node, expired"
	TokenOtherKey    TokenName = "the operator's for this node, signed with another key"
	TokenUnknownKey  TokenName = "the same, with an unknown key id"
	TokenUnsigned    TokenName = "the operator's for this node, not signed"
	TokenOtherIssuer TokenName = "the operator's for this node, of another issuer"
	TokenOwn         TokenName = "the caller's own, as its pod has it"
	TokenOwnForNode  TokenName = "the caller's own, for this node's audience"
	TokenResigned    TokenName = "the operator's for this node, signed by the test"
	TokenRight       TokenName = "the operator's for this node"
)

// Token says how one is come by and what it opens.
type Token struct {
	Name TokenName
	// Made says how the test comes by it, and why like that.
	Made string
	// Refused is the answer to all requests that are not open to everybody; 0 for tokens that open them.
	Refused int
	// Says is what the refusal says, so that it is for this reason.
	Says string
}

// Tokens are all that are tried.
var Tokens = []Token{
	{TokenNone, "no header", http.StatusUnauthorized, "missing bearer token"},
	{TokenGarbage, "random letters", http.StatusUnauthorized, ""},
	{TokenRemoteUser, "`X-Remote-User`, which a sidecar behind a proxy believes", http.StatusUnauthorized, "missing bearer token"},
	{TokenOtherNode, "TokenRequest for the operator's account with the audience of the other node", http.StatusUnauthorized, "not for this sidecar"},
	{TokenNodeBefore, "the same with another UID", http.StatusUnauthorized, "not for this sidecar"},
	{TokenShared, "the same with audience `sei-sidecar`", http.StatusUnauthorized, "not for this sidecar"},
	{TokenAPI, "TokenRequest for the operator's account, default audience", http.StatusUnauthorized, "not for this sidecar"},
	{TokenExpired, "signed with the cluster's own key, everything right but `exp`: TokenRequest gives none below ten minutes",
		http.StatusUnauthorized, "token expired"},
	{TokenOtherKey, "everything right, with the key id of the cluster's key", http.StatusUnauthorized, "not signed with the key it names"},
	{TokenUnknownKey, "signed with a key of the caller", http.StatusUnauthorized, "a key that the cluster does not have"},
	{TokenUnsigned, "`alg: none`", http.StatusUnauthorized, ""},
	{TokenOtherIssuer, "signed with the cluster's own key, `iss` of another cluster", http.StatusUnauthorized, "was issued by"},
	{TokenOwn, "mounted by the kubelet", http.StatusUnauthorized, "not for this sidecar"},
	{TokenOwnForNode, "mounted by the kubelet: a pod may ask for any audience", http.StatusForbidden, "may not use this sidecar"},
	{TokenResigned, "signed with the cluster's own key: shows that those above are refused for the one thing that is wrong", 0, ""},
	{TokenRight, "TokenRequest, as the operator does", 0, ""},
}
