/**
 * The algorithms offered to a server. Without what Terrapin (CVE-2023-48795) can cut messages out of, because ssh cannot be told to require
 * strict key exchange: chacha20-poly1305 and the -etm MACs. Without SHA-1. Key exchange is ssh's own choice of this version, post-quantum ones first.
 */
export const ALGORITHMS: ReadonlyArray<readonly [keyword: string, value: string]> = [
  ['KexAlgorithms', '-*-sha1'],
  ['Ciphers', 'aes128-gcm@openssh.com,aes256-gcm@openssh.com,aes128-ctr,aes192-ctr,aes256-ctr'],
  ['MACs', 'hmac-sha2-256,hmac-sha2-512'],
  ['PubkeyAcceptedAlgorithms', '-ssh-rsa,ssh-rsa-cert-v01@openssh.com,ssh-dss*'],
  ['CASignatureAlgorithms', '-ssh-rsa,ssh-dss*'],
]
