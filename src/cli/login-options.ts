import { type Command, Option } from 'commander'

/** Gathers an option that may be given again and again. */
export const several = (text: string, before: readonly string[] = []) => [...before, text]

/** Adds what every command takes that logs in: who we are, who they are, and the way there. */
export function addLoginOptions(command: Command): Command {
  return command
    .option(
      '-i, --identity <path>',
      'private key; several are offered in this order (default: the agent, then the usual key files)',
      several,
    )
    .option('--agent', 'offer the keys of SSH_AUTH_SOCK')
    .option(
      '--host-key <key>',
      'SHA256:… (repeat for several), a known_hosts file, `accept-new` or `insecure-accept-any`',
      several,
    )
    .option('--jump <login>', 'a bastion to go through, outermost first', several)
    .addOption(new Option('--transport <name>', 'how to dial (default: ssh2)').choices(['ssh2', 'openssh']))
}
