// Package supply checks what the project ships and names from elsewhere: the images of its manifests and
// examples, the bases of its own images, and what its workflows run. It holds no product code.
package supply
