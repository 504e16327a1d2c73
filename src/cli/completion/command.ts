import { Argument, type Command } from 'commander'
import type { Terminal } from '../check/command.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

const flagsOf = (command: Command) =>
  command.options.flatMap(({ short, long }) => [short, long]).filter((flag) => flag !== undefined && flag !== null)

/** bash's own word lists; a word that is no option or command is completed as a file. */
function bash(program: Command): string {
  const cases = program.commands.map(
    (command) => `    ${command.name()}) words="${[...flagsOf(command), '--help'].join(' ')}" ;;`,
  )
  return `_warren() {
  local words current="\${COMP_WORDS[COMP_CWORD]}"
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    *) words="${program.commands.map((command) => command.name()).join(' ')} help --help" ;;
  esac
  [ "$COMP_CWORD" = 1 ] || [ "\${current#-}" != "$current" ] || return 0
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _warren warren
`
}

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

function fish(program: Command): string {
  const lines = program.commands.flatMap((command) => [
    `complete -c warren -n __fish_use_subcommand -f -a ${command.name()} -d ${quoted(command.description())}`,
    ...command.options.map(({ short, long, description, required }) => {
      const names = [short && `-s ${short.slice(1)}`, long && `-l ${long.slice(2)}`, required && '-r'].filter(Boolean)
      return `complete -c warren -n '__fish_seen_subcommand_from ${command.name()}' ${names.join(' ')} -d ${quoted(description)}`
    }),
  ])
  return `${lines.join('\n')}\n`
}

/** Adds `warren completion`; last, since it knows the commands that are there by then. */
export function addCompletion(program: Command, { write }: Terminal): void {
  program
    .command('completion')
    .description('prints what a shell needs to complete commands and options')
    .addArgument(new Argument('<shell>', 'which').choices(SHELLS))
    .addHelpText('after', '\nbash, zsh:  eval "$(warren completion bash)"\nfish:       warren completion fish | source')
    .action((shell: (typeof SHELLS)[number]) => {
      if (shell === 'fish') write(fish(program))
      else write(shell === 'zsh' ? `autoload -U +X bashcompinit && bashcompinit\n${bash(program)}` : bash(program))
    })
}
