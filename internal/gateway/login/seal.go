// Copyright The Windlass Authors.
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/json"
)

// digest is the hash of a cookie, by which a session is found: the table has no cookies.
type digest [sha256.Size]byte

func digestOf(cookie string) digest { return sha256.Sum256([]byte(cookie)) }

// encode returns the credential as it is sealed.
func (c *Credential) encode() []byte {
	raw, err := json.Marshal(c)
	if err != nil {
		panic(err) // strings can be encoded
	}
	return raw
}

func decode(secret []byte) (c Credential) {
	if err := json.Unmarshal(secret, &c); err != nil {
		panic(err) // only what encode returns is sealed
	}
	return c
}

// seal encrypts a secret with a key that is derived from the cookie and kept nowhere. What is left of a session in memory, in a
// core dump or in swap space is of no use without the cookie.
func seal(cookie string, secret []byte) []byte {
	return sealer(cookie).Seal(nil, nil, secret, nil) //nolint:gosec // because the AEAD makes its nonces itself
}

// unseal returns what was sealed with the cookie; false for anything else.
func unseal(cookie string, sealed []byte) ([]byte, bool) {
	secret, err := sealer(cookie).Open(nil, nil, sealed, nil)
	return secret, err == nil
}

func sealer(cookie string) cipher.AEAD {
	key, err := hkdf.Key(sha256.New, []byte(cookie), nil, "windlass session", 32)
	if err != nil {
		panic(err) // 32 bytes are not too many for SHA-256
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // 32 bytes are a key of AES
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // AES has the block size of GCM
	}
	return aead
}
