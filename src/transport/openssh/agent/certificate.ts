import { readFile } from 'node:fs/promises'
import { TunnelError } from '../../../errors.ts'
import { socketErrorCode } from '../../../owners/tcp.ts'
import { shown } from '../../../shown.ts'
import { WireReader } from '../wire.ts'
import { bareKey } from './public-key.ts'

const CERTIFICATE = /^(?:ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521))-cert-v01@openssh\.com$/

const unfit = (why: string, cause?: unknown) =>
  new TunnelError('ERR_KEY_FORMAT', `the certificate ${why}`, { ...(cause === undefined ? {} : { cause }), phase: 'auth' })

function bytesOf(content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content as Uint8Array)
  // As SSH sends it: it begins with the length of its type, which no text does.
  if (bytes.length > 4 && bytes[0] === 0) return bytes
  const [, base64 = ''] = bytes
    .toString('latin1')
    .trim()
    .split(/[ \t]+/)
  return Buffer.from(base64, 'base64')
}

/** Reads a certificate and holds it against the key that it is for. @throws TunnelError `ERR_KEY_FORMAT` */
export function readCertificate(content: string | Uint8Array, keyBlob: Buffer): Buffer {
  const blob = bytesOf(content)
  const type = new WireReader(blob).text() ?? ''
  if (!CERTIFICATE.test(type)) throw unfit('is not an OpenSSH user certificate for an ed25519, ECDSA or RSA key')
  if (!bareKey(blob).equals(keyBlob)) throw unfit('is for another key than the one that is given with it')
  return blob
}

/** Reads a certificate's file. Rejects with `ERR_KEY_FORMAT` or `ERR_LOCAL_LIMIT`. */
export async function certificateFile(path: string, signal: AbortSignal): Promise<Buffer> {
  try {
    return await readFile(path, { signal })
  } catch (error) {
    signal.throwIfAborted()
    if (socketErrorCode(error) === 'ERR_LOCAL_LIMIT')
      throw new TunnelError('ERR_LOCAL_LIMIT', `no descriptor is left to read ${shown(path)} with`, {
        cause: error,
        phase: 'auth',
      })
    throw unfit(`${shown(path)} cannot be read`, error)
  }
}
