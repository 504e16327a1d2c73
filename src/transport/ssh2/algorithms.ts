import type { Algorithms } from 'ssh2'
import { HOST_KEY_ALGORITHMS } from '../host-key-algorithms.ts'

/**
 * The algorithms offered to a server: ssh2's own choice and order, less everything that rests on SHA-1. Explicit, so that neither a
 * version of ssh2 nor its native binding changes what a dial does.
 */
export function algorithmsFor(hostKeyAlgorithms: readonly string[] | undefined): Algorithms {
  return {
    kex: [
      'curve25519-sha256',
      'curve25519-sha256@libssh.org',
      'ecdh-sha2-nistp256',
      'ecdh-sha2-nistp384',
      'ecdh-sha2-nistp521',
      'diffie-hellman-group-exchange-sha256',
      'diffie-hellman-group14-sha256',
      'diffie-hellman-group16-sha512',
      'diffie-hellman-group18-sha512',
    ],
    cipher: [
      'aes128-gcm@openssh.com',
      'aes256-gcm@openssh.com',
      'chacha20-poly1305@openssh.com',
      'aes128-ctr',
      'aes192-ctr',
      'aes256-ctr',
    ],
    hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
    compress: ['none'],
    serverHostKey: [...(hostKeyAlgorithms ?? HOST_KEY_ALGORITHMS)],
  } as Algorithms
}

/** Ciphers and MACs that Terrapin (CVE-2023-48795) can cut messages out of, unless both sides keep strict key exchange. */
export function isTerrapinProne(cipher: string, mac: string): boolean {
  return cipher === 'chacha20-poly1305@openssh.com' || mac.includes('-etm@')
}
