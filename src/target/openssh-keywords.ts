const words = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text
      .trim()
      .split(/\s+/)
      .map((word) => [word.toLowerCase(), word]),
  )

/** Keywords of ssh_config that tune a connection and can harm nobody. */
export const TUNING = words(`
  AddressFamily BindAddress BindInterface CASignatureAlgorithms Ciphers Compression ConnectionAttempts ConnectTimeout GSSAPIAuthentication
  GSSAPIClientIdentity GSSAPIServerIdentity GSSAPITrustDns IPQoS KexAlgorithms MACs PreferredAuthentications PubkeyAcceptedAlgorithms
  PubkeyAcceptedKeyTypes RekeyLimit RequiredRSASize TCPKeepAlive
`)

/** Keywords that run programs, lend what is ours, or weaken what proves who is who: allowed by whoever names them as dangerous. */
export const DANGEROUS = words(`
  EnableSSHKeysign ForwardAgent ForwardX11 ForwardX11Trusted GSSAPIDelegateCredentials HostbasedAcceptedAlgorithms HostbasedAuthentication
  HostKeyAlgorithms LocalCommand PermitLocalCommand PKCS11Provider ProxyCommand ProxyUseFdpass SecurityKeyProvider XAuthLocation
`)

/** What has an option of its own, or is fixed because the transport rests on it. */
export const INSTEAD: ReadonlyMap<string, string> = new Map(
  Object.entries({
    hostname: "use the target's `host`",
    port: "use the target's `port`",
    user: "use the target's `user`",
    hostkeyalias: "use the target's `hostKeyAlias`",
    stricthostkeychecking: "use the target's `hostKey`",
    userknownhostsfile: "use the target's `hostKey`",
    globalknownhostsfile: "use the target's `hostKey`",
    knownhostscommand: "use the target's `hostKey`",
    identityfile: "use the target's `identity`",
    certificatefile: "use the target's `identity`",
    identityagent: "use the target's `identity`",
    identitiesonly: 'only what `identity` names is offered',
    passwordauthentication: "use transport 'ssh2' for passwords",
    kbdinteractiveauthentication: "use transport 'ssh2' for passwords",
    proxyjump: "use the target's `jumps`",
    serveraliveinterval: 'use `keepAliveIntervalMillis`',
    serveralivecountmax: 'use `keepAliveCountMax`',
    localforward: 'use `forwards`',
    remoteforward: 'use `forwards`',
    dynamicforward: 'use `forwards`',
    include: 'use `openssh.configFile`',
  }),
)
