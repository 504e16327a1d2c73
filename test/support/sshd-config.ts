/** Keywords of sshd_config and their values; a list repeats the line. */
export type SshdConfig = Readonly<Record<string, string | readonly string[]>>

/** The files and the port one sshd lives on. */
export interface SshdPlace {
  readonly directory: string
  readonly port: number
}

/** What a private sshd needs on a machine of which it knows nothing, after what the test asks for: sshd takes the first value of most keywords. */
export function sshdConfig(given: SshdConfig, { directory, port }: SshdPlace): string {
  const own: SshdConfig = {
    ListenAddress: `127.0.0.1:${port}`,
    HostKey: `${directory}/host_key`,
    AuthorizedKeysFile: `${directory}/authorized_keys`,
    PidFile: 'none',
    UsePAM: 'no',
    StrictModes: 'no',
    PermitRootLogin: 'prohibit-password',
    PasswordAuthentication: 'no',
    KbdInteractiveAuthentication: 'no',
    UseDNS: 'no',
    // bash that sshd starts reads the user's .bashrc, unless it is the second shell: what a person has put there (a lock, a message) is no part of a test.
    SetEnv: 'SHLVL=1',
    LogLevel: 'VERBOSE',
  }
  const lines = [...Object.entries(given), ...Object.entries(own).filter(([keyword]) => !(keyword in given))]
  return lines
    .map(([keyword, values]) =>
      [values]
        .flat()
        .map((value) => `${keyword} ${value}\n`)
        .join(''),
    )
    .join('')
}
