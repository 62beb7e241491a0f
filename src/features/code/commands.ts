import type { FeatureCommand } from '../../core/index.ts'

/** The command `tool-hub code`. */
export const codeCommand: FeatureCommand = (command, kit) => {
  kit
    .addConfigOption(command.command('types').description('Print TypeScript declarations of the tools for scripts'))
    .action((flags) => kit.withHub(flags, async (hub) => kit.print(`${await hub.code.declarations()}\n`)))
}
