/** What one host has seen. `openChannels` is now, the rest since the start. */
export interface Tally {
  connections: number
  logins: number
  channels: number
  openChannels: number
  requests: number
}
