import { compileNames, expandNames, SECRET_STORES } from './secret-names.ts'

/** Files that one kind of program runs or obeys by itself. `{a,b}` are alternatives, `*` is any text. */
interface Family {
  readonly runBy: string
  /** Folders that are closed with everything in them. */
  readonly folders?: readonly string[]
  /** Files, wherever they are. */
  readonly files?: readonly string[]
  /** Files and folders in another folder: `.config/fish`. */
  readonly below?: readonly string[]
  /** Commands write these in normal work, so only file tools may not. */
  readonly isOpenToCommands?: true
  /** Its files say what git hooks start. */
  readonly isOfHooks?: true
}

const FAMILIES: readonly Family[] = [
  {
    runBy: 'version control; protected/git says what commands may write in a git folder',
    folders: ['.git', '.hg', '.svn', '.jj', '.sl'],
    files: ['.gitmodules'],
    isOpenToCommands: true,
  },
  {
    runBy: 'version control: settings that name programs',
    files: ['.gitconfig'],
    below: [
      ...['.hg/{hgrc,hgrc-not-shared,sharedpath}', '.sl/{config,sharedpath}', '.jj/repo/{config.toml,config-id}'],
      ...['.pijul/config', '_darcs/prefs'],
    ],
  },
  {
    runBy: 'hook managers, on the next commit, push or checkout',
    isOfHooks: true,
    folders: ['.{husky,githooks,git-hooks,lefthook,lefthook-local,trunk,cargo-husky}'],
    files: [
      '.huskyrc*',
      'husky.config.*',
      '{.,}lefthook{,-local}.{yml,yaml,toml,json,jsonc}',
      '.pre-commit-{config,hooks}.{yaml,yml}',
      '{.,}prek.toml',
      '{.,}hk{,.local}.pkl',
      '.overcommit.yml',
      '{.,}simple-git-hooks.{json,js,cjs,mjs,ts}',
      '{.,}captainhook.json',
      'grumphp.{yml,yaml}{,.dist}',
      '.rusty-hook.toml',
    ],
    // Rush copies these to the hooks of git.
    below: ['common/git-hooks'],
  },
  {
    runBy: 'linters of commits and of staged files, which hooks start',
    isOfHooks: true,
    files: [
      '.{lintstagedrc,nano-staged,nanostagedrc,commitlintrc,czrc,cz}{,.*}',
      '{lint-staged,nano-staged,commitlint,git-cz,changelog,.cz}.config.*',
      'nano-staged.{js,cjs,mjs,json}',
      '{.,}pretty-quick*.{js,json}',
      'cz.{toml,json,yaml}',
    ],
  },
  {
    runBy: 'editors, when the project or a file in it is opened',
    folders: [
      '.{vscode,idea,fleet,zed,vs,helix,emacs.d,vim,nvim,theia,nova,vscode-server,cursor-server,bsp,sourcekit-lsp}',
    ],
    files: [
      '.{vimrc,vimrc.local,local.vimrc,gvimrc,exrc,nvimrc,nvim.lua,lvimrc,emacs,ideavimrc}',
      'buildserver.json',
      '.dir-locals{,-2}.el',
      '.emacs.desktop',
      '*.{code-workspace,sublime-project,sublime-workspace,nova}',
    ],
    below: [
      '.config/{nvim,vim,Code,Code - Insiders,Code - OSS,VSCodium,Cursor,Windsurf,emacs,helix,zed,lapce,kak,micro,sublime-text}',
    ],
  },
  {
    runBy: 'editors, which start the interpreter of a virtual environment and the providers of Terraform',
    folders: ['{.,}venv', '.virtualenv', '.conda', '.pixi'],
    files: ['pyvenv.cfg'],
    below: ['site-packages/{*.pth,sitecustomize.py,usercustomize.py}', '.terraform/{providers,plugins}'],
    isOpenToCommands: true,
  },
  {
    runBy: 'shells, prompts and terminals, when they start',
    folders: ['.bash_completion.d', '.zsh', '.oh-my-zsh', '.tmux'],
    files: [
      '.{bashrc,bash_profile,bash_login,bash_logout,bash_aliases,bash_completion,profile,login}',
      '.{zshrc,zshenv,zprofile,zlogin,zlogout,cshrc,tcshrc,kshrc,mkshrc,xonshrc,inputrc}',
      '.{tmux.conf,screenrc,wezterm.lua}',
    ],
    below: [
      '.config/{fish,nushell,elvish,xonsh,zsh,bash,tmux,zellij,starship.toml,powershell,alacritty,kitty,wezterm,ghostty}',
      '.local/bin',
      '.local/share/bash-completion',
    ],
  },
  {
    runBy: 'sessions of the desktop and of the user',
    files: ['.{xprofile,xinitrc,xsession,xsessionrc,pam_environment}'],
    below: [
      '.config/{autostart,systemd,environment.d,plasma-workspace,i3,sway,hypr}',
      '.local/share/{applications,systemd,dbus-1}',
      'Library/{LaunchAgents,LaunchDaemons}',
    ],
  },
  {
    runBy: 'environment managers, when a shell enters the folder',
    folders: ['.{direnv,mise,shadowenv.d}'],
    files: ['.envrc', '{.,}mise{,.*}.toml', '.autoenv{,.zsh}', '.rvmrc'],
    below: ['.config/{direnv,mise,mise.toml}'],
  },
  {
    runBy: 'dev containers and hosted workspaces',
    folders: ['.{devcontainer,idx,gitpod}'],
    files: ['.{devcontainer.json,gitpod.yml,gitpod.dockerfile,replit}'],
  },
  {
    runBy: 'agents: settings, hooks and instructions',
    folders: [
      '.{claude,codex,cursor,gemini,windsurf,continue,roo,clinerules,cline,kilocode,kiro,amazonq,opencode,crush,qwen}',
      '.{augment,trae,junie,goose,factory,agents,agent,amp,openhands,copilot,pi,rovodev,codebuddy,iflow,aider}',
      '.{qoder,grok,vibe,antigravity}',
    ],
    files: [
      '.claude.json',
      '.mcp.json',
      '.aider.conf.yml',
      '.{cursorrules,windsurfrules,roomodes,kilocodemodes,goosehints,continuerc.json}',
      'gptme.toml',
      '{.,}{opencode,crush}.{json,jsonc}',
    ],
    below: ['.github/{hooks,copilot}', '.config/{opencode,crush,goose,amp,github-copilot,zed-agent}'],
  },
  {
    runBy: 'debuggers, consoles and command line programs, when they start in the folder',
    files: [
      '.{gdbinit,lldbinit,pdbrc,perldb,rprofile,renviron,rdata,irbrc,pryrc,byebugrc,ripgreprc,netrc}',
      '.{ghci,ocamlinit,iex.exs,erlang,octaverc,lazygit.yml,lessfilter,wgetrc,reviewboardrc}',
    ],
    below: ['.config/{git,gh,gdb,jj,hub}'],
  },
  {
    runBy: 'package managers: settings that name programs and scripts',
    files: ['.{npmrc,yarnrc,yarnrc.yml,pnpmfile.cjs,pnpmfile.mjs,pypirc}'],
    below: ['.cargo/{config,config.toml}', '.yarn/{releases,plugins}', '.mvn/{extensions.xml,jvm.config,maven.config}'],
  },
  {
    runBy: 'package managers and editors: installed programs',
    files: ['.pnp.{cjs,loader.mjs}'],
    below: ['node_modules/.bin', '.yarn/{sdks,unplugged,cache}', '.bundle/config'],
    isOpenToCommands: true,
  },
  { runBy: 'programs that use the keys in it', folders: SECRET_STORES },
  { runBy: 'tool-hub itself', files: ['tool-hub.{yaml,yml,json,jsonc,json5,mjs}'] },
]

/** A compiled list of names. */
interface ClosedNames {
  readonly isFolder: (name: string) => boolean
  readonly isFile: (name: string) => boolean
  /** By the name of the folder: the names in it, which may have a further folder in front. */
  readonly below: ReadonlyMap<string, readonly Below[]>
}

interface Below {
  /** The folder around the folder, if that matters. */
  readonly around: string | undefined
  readonly isName: (name: string) => boolean
}

const CLOSED_TO_FILE_TOOLS = compile(FAMILIES)
const CLOSED_TO_COMMANDS = compile(FAMILIES.filter(({ isOpenToCommands }) => !isOpenToCommands))

/** Whether a file with this name, which is folded, says what git hooks start. */
export const isHookConfig = compileNames(FAMILIES.flatMap(({ isOfHooks, files = [] }) => (isOfHooks ? files : [])))

/** All names in the list, for other spellings of them; those below a folder without it. */
export const RUN_LATER_NAMES: readonly string[] = FAMILIES.flatMap(({ folders = [], files = [], below = [] }) =>
  expandNames([...folders, ...files, ...below]).flatMap((name) => name.split('/')),
)

/** Who may write a name or not. */
type Writer = 'file tools' | 'commands'

/** Whether a program runs or obeys what these names lead to; they are folded. */
export function isRunLater(names: readonly string[], writer: Writer): boolean {
  return names.some((_, index) => isRunLaterAt(names, index, writer))
}

/** The same for one of the names, because of itself and of those before it. */
export function isRunLaterAt(names: readonly string[], index: number, writer: Writer): boolean {
  const closed = writer === 'commands' ? CLOSED_TO_COMMANDS : CLOSED_TO_FILE_TOOLS
  const name = names[index]!
  if (closed.isFolder(name) || (index === names.length - 1 && closed.isFile(name))) return true
  const below = closed.below.get(names[index - 1] ?? '') ?? []
  return below.some(({ around, isName }) => isName(name) && (around ?? names[index - 2]) === names[index - 2])
}

/** Whether a folder with this name can contain entries that commands may not write; the name is folded. */
export function holdsRunLater(name: string): boolean {
  const { below } = CLOSED_TO_COMMANDS
  return below.has(name) || [...below.values()].flat().some(({ around }) => around === name)
}

function compile(families: readonly Family[]): ClosedNames {
  const below = new Map<string, Below[]>()
  for (const path of expandNames(families.flatMap((family) => family.below ?? []))) {
    const [name, folder, around] = path.split('/').toReversed() as [string, string, string?]
    const list = below.get(folder) ?? []
    below.set(folder, [...list, { around, isName: compileNames([name]) }])
  }
  return {
    isFolder: compileNames(families.flatMap(({ folders = [] }) => folders)),
    isFile: compileNames(families.flatMap(({ files = [] }) => files)),
    below,
  }
}
