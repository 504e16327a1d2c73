import type { Logger } from '../api/options.ts'

/** A winston logger that tells every fact of a pool on standard error, for `--verbose`; winston is loaded only then. */
export async function verboseLogger(): Promise<Logger> {
  const { createLogger, format, transports } = (await import('winston')).default
  const line = format.printf(
    ({ level, message, timestamp, ...fields }) => `${timestamp} ${level} ${message} ${JSON.stringify(fields, shorten)}`,
  )
  return createLogger({
    level: 'silly',
    format: format.combine(format.timestamp(), line),
    transports: [new transports.Stream({ stream: process.stderr })],
  })
}

/** Errors as their code and message; milliseconds without the microseconds. */
function shorten(_name: string, value: unknown): unknown {
  if (value instanceof Error) return 'code' in value ? `${String(value.code)}: ${value.message}` : value.message
  return typeof value === 'number' ? Math.round(value * 10) / 10 : value
}
