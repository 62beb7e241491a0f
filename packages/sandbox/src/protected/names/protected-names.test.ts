import { describe, expect, it } from 'vitest'
import { checkEach } from '../../../../../test/support/check-each.ts'
import { closedToFileTools, foldName, isClosedToCommands, isHiddenFromCommands } from './protected-names.ts'

const closed = (path: string, access: 'read' | 'write') => closedToFileTools(path.split('/'), access) !== undefined

describe('protected names', () => {
  it('keeps secrets from being read', () => {
    for (const path of [
      'server.key',
      'a/ca.PEM',
      '.env',
      'app/.env.local',
      '.env.d/db',
      '.ssh/config',
      'app/.tool-hub/key',
    ])
      expect(closed(path, 'read')).toBe(true)
  })

  it('keeps what other programs run or trust from being written, in any folder and any case', () => {
    const paths = [
      '.git/config',
      'sub/.GIT/hooks/pre-commit',
      '.git',
      '.bashrc',
      '.vscode/tasks.json',
      '.mcp.json',
      '.envrc',
    ]
    const more = [
      'tool-hub.yaml',
      '.tool-hub/grants',
      'node_modules/.bin/tsc',
      '.ripgreprc',
      '.config/fish/config.fish',
    ]
    for (const path of [...paths, ...more, '.local/bin/ls', '.direnv/x', '.tmux.conf'])
      expect([path, closed(path, 'write')]).toEqual([path, true])
  })

  it('knows the spellings that other file systems take for the same name', () => {
    for (const name of [
      '.git.',
      '.git ',
      '.git. .',
      '.g\u200cit',
      '.gi\ufefft',
      'GIT~1',
      'git~2',
      '.ｇｉｔ',
      '.BashRC.',
    ])
      expect([name, closed(name, 'write')]).toEqual([name, true])
  })

  it('leaves alone what only looks similar', () => {
    for (const path of [
      'monkey.keys',
      'pem/readme.md',
      'environment.md',
      '.gitignore',
      '.gitattributes',
      'git/config',
      'bin/.config/x',
    ]) {
      expect(closed(path, 'read')).toBe(false)
      expect(closed(path, 'write')).toBe(false)
    }
    expect(closed('.git/HEAD', 'read')).toBe(false)
  })
})

const words = (text: string) => text.trim().split(/\s+/)

/** Names by who runs or obeys them; a slash is a folder around it. */
const RUN_LATER: Readonly<Record<string, string>> = {
  'hook managers': `.husky/ .githooks/ .git-hooks/ .lefthook/ .lefthook-local/ .trunk/ .huskyrc .huskyrc.json .huskyrc.js
    husky.config.js lefthook.yml .lefthook.yaml lefthook-local.toml .lefthook-local.json .pre-commit-config.yaml
    .pre-commit-config.yml .pre-commit-hooks.yaml prek.toml hk.pkl .overcommit.yml .simple-git-hooks.json
    .simple-git-hooks.js .simple-git-hooks.cjs .simple-git-hooks.mjs simple-git-hooks.js captainhook.json grumphp.yml
    common/git-hooks/`,
  'linters of commits and staged files': `.lintstagedrc .lintstagedrc.json .lintstagedrc.yaml .lintstagedrc.mjs
    lint-staged.config.js lint-staged.config.mts commitlint.config.js commitlint.config.ts .commitlintrc .commitlintrc.yml
    .nano-staged.json nano-staged.config.js .czrc .cz.toml`,
  editors: `.vscode/ .idea/ .fleet/ .zed/ .vs/ .helix/ .emacs.d/ .vim/ .vimrc .gvimrc .exrc .nvimrc .nvim.lua .lvimrc
    .dir-locals.el .dir-locals-2.el .emacs .ideavimrc a.code-workspace a.sublime-project .config/nvim/ .config/Code/
    .config/emacs/ .config/helix/ .config/zed/ .bsp/ buildServer.json .sourcekit-lsp/ .emacs.desktop .vimrc.local .local.vimrc`,
  'shells, prompts and terminals': `.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .bash_completion .profile
    .zshrc .zshenv .zprofile .zlogin .zlogout .cshrc .tcshrc .kshrc .xonshrc .login .inputrc .tmux.conf .screenrc
    .config/fish/ .config/nushell/ .config/elvish/ .config/tmux/ .config/starship.toml .local/bin/ .bash_completion.d/`,
  sessions: `.xprofile .xinitrc .xsession .pam_environment .config/autostart/ .config/sway/ .config/systemd/ .config/environment.d/
    .local/share/systemd/ Library/LaunchAgents/`,
  'environment managers': `.direnv/ .mise/ .envrc .mise.toml .mise.local.toml mise.toml mise.local.toml .config/direnv/
    .config/mise/ .autoenv .autoenv.zsh .rvmrc .shadowenv.d/`,
  'dev containers': '.devcontainer/ .idx/ .devcontainer.json .gitpod.yml .gitpod.dockerfile .replit',
  agents: `.claude/ .codex/ .cursor/ .gemini/ .windsurf/ .continue/ .roo/ .clinerules/ .cline/ .kilocode/ .amp/
    .openhands/ .kiro/ .amazonq/ .opencode/ .crush/ .qwen/ .augment/ .trae/ .junie/ .goose/ .factory/ .agents/ .agent/
    .copilot/ .pi/ .rovodev/ .codebuddy/ .iflow/ .github/hooks/ .claude.json .roomodes .mcp.json .aider.conf.yml
    .github/copilot/ .qoder/ .vibe/ .kilocodemodes .continuerc.json gptme.toml .cursorrules .windsurfrules .crush.json opencode.json opencode.jsonc crush.json`,
  'programs that start in the folder': `.gdbinit .lldbinit .pdbrc .Rprofile .irbrc .pryrc .ripgreprc .netrc .config/gh/ .ghci .ocamlinit .iex.exs .erlang
      .octaverc .lessfilter .wgetrc .reviewboardrc .perldb .byebugrc .Renviron .RData .lazygit.yml`,
  'package managers': `.npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pypirc .cargo/config .mvn/extensions.xml .cargo/config.toml .yarn/releases/
    .yarn/plugins/`,
  'version control': '.gitconfig .config/git/ .sl/config .hg/hgrc .jj/repo/config.toml .pijul/config _darcs/prefs/',
  'stores of keys': '.ssh/ .gnupg/ .aws/ .azure/ .kube/ .tool-hub/',
  'tool-hub': 'tool-hub.yaml tool-hub.yml tool-hub.json tool-hub.jsonc tool-hub.json5 tool-hub.mjs',
}
/** Commands write these in normal work. */
const OPEN_TO_COMMANDS =
  words(`.bundle/config .git/ .hg/ .svn/ .jj/ .sl/ .gitmodules node_modules/.bin/ .venv/ venv/ pyvenv.cfg
  a/site-packages/evil.pth site-packages/sitecustomize.py .pnp.cjs .pnp.loader.mjs .yarn/sdks/ .yarn/unplugged/
  .yarn/cache/ .terraform/providers/ .terraform/plugins/`)

const SECRETS: Readonly<Record<string, string>> = {
  'variables of a deployment': '.env .env.local .env.test .env.production.local .envrc prod.env docker.env',
  'keys and certificates': `a.pem a.key a.p8 a.p12 a.pfx a.ppk a.jks a.keystore a.kdbx id_rsa id_dsa id_ecdsa id_ed25519
    id_ed25519_sk`,
  'logins of programs': `.netrc .pgpass .my.cnf .git-credentials .pypirc .htpasswd .dockercfg .docker/config.json
    .cargo/credentials .cargo/credentials.toml .config/gh/hosts.yml .m2/settings.xml .gem/credentials .vault-token`,
  'credentials of clouds and services': `service-account.json service_account_prod.json credentials.json client_secret_1.json
    app-firebase-adminsdk-x1.json application_default_credentials.json .streamlit/secrets.toml`,
  'state of infrastructure': 'terraform.tfstate terraform.tfstate.backup prod.tfstate',
}
const SECRET_FOLDERS = ['.ssh', '.gnupg', '.aws', '.azure', '.kube', '.tool-hub', '.env', '.env.d', '.envs']
const SAMPLES = words(`.env.example .env.sample .env.template .env.dist .env.schema .env.defaults .env.default
  .env.example.local .ENV.Example .env.production.example example.env prod.sample.env`)

const both = (name: string, folder: string | undefined, path = folder === undefined ? name : `${folder}/${name}`) => [
  closed(`a/${path}`, 'write'),
  isClosedToCommands(name, folder === undefined ? '/root/a' : `/root/a/${folder}`),
]
const split = (path: string) => {
  const [name, ...folders] = path.replace(/\/$/, '').split('/').toReversed() as [string, ...string[]]
  return { name, folder: folders.length === 0 ? undefined : folders.toReversed().join('/') }
}
const hidden = (path: string, isFolder = false) => {
  const { name, folder } = split(path)
  return isHiddenFromCommands(name, isFolder, `/root/a${folder === undefined ? '' : `/${folder}`}`)
}

describe.each(Object.entries(RUN_LATER))('what %s run or obey', (_, paths) => {
  it('are closed to writing tools and to commands, in any case', () => {
    checkEach(words(paths), (path) => {
      const { name, folder } = split(path)
      expect(both(name, folder)).toEqual([true, true])
      expect(both(name.toUpperCase(), folder?.toUpperCase())).toEqual([true, true])
      if (path.endsWith('/')) expect(closed(`a/${path}b/c`, 'write')).toBe(true)
    })
  })
})

it('what commands write in normal work is closed to writing tools only', () => {
  checkEach(OPEN_TO_COMMANDS, (path) => {
    const { name, folder } = split(path)
    expect(both(name, folder)).toEqual([true, false])
  })
})

it('a folder that only lies in a folder of that name is open to commands', () => {
  expect(isClosedToCommands('config.toml', '/root/other/repo')).toBe(false)
  expect(isClosedToCommands('hooks', '/root/github')).toBe(false)
})

describe.each(Object.entries(SECRETS))('secrets: %s', (_, paths) => {
  it('are read by no file tool and seen by no command', () => {
    checkEach(words(paths), (path) => {
      expect([closed(`a/${path}`, 'read'), hidden(path)]).toEqual([true, true])
      expect([closed(`a/${path.toUpperCase()}`, 'read'), hidden(path.toUpperCase())]).toEqual([true, true])
    })
  })
})

it('folders of secrets are closed to file tools and to commands', () => {
  checkEach(SECRET_FOLDERS, (name) => {
    expect([closed(`${name}/x`, 'read'), hidden(name, true)]).toEqual([true, true])
  })
})

it('samples are made to be seen, by file tools and by commands', () => {
  checkEach(SAMPLES, (name) => {
    expect([closed(name, 'read'), hidden(name)]).toEqual([false, false])
  })
})

it('files that are not secrets by their names can be read', () => {
  checkEach(
    ['.npmrc', '.cargo/config.toml', '.docker/compose.yml', 'config.json', 'hosts.yml', 'terraform.tfvars'],
    (path) => {
      expect([closed(path, 'read'), hidden(path)]).toEqual([false, false])
    },
  )
})

describe('spellings of other systems', () => {
  it('may stand for a protected name', () => {
    checkEach(
      words(`VSCODE~1 CLAUDE~1 HUSKY~1 GITHOO~1 LINTST~1.JSO BASHRC~1 GITMOD~1 TOOL-H~1.YAM LEFTHO~1.YML DEVCON~1
      GI7D29~1 VS12AB~1`),
      (name) => {
        expect(closed(`a/${name}/x`, 'write') || closed(`a/${name}`, 'write')).toBe(true)
      },
    )
  })

  it('may stand for a secret', () => {
    checkEach(['ENV~1.LOC', 'ENV~1', 'ENVPRO~1.LOC', 'SSH~1/config', 'NETRC~1', 'IDRSA~1.PEM'], (path) => {
      expect(closed(`a/${path}`, 'read')).toBe(true)
    })
  })

  it('are closed to writing tools', () => {
    checkEach(
      [
        '.git::$INDEX_ALLOCATION',
        '.vscode::$INDEX_ALLOCATION',
        '.bashrc::$DATA',
        '.git\\config',
        'a\\.vscode\\tasks.json',
        '.husky\\pre-commit',
      ],
      (name) => {
        expect(closed(name, 'write')).toBe(true)
      },
    )
  })

  it('a name with a backslash is closed to commands as well', () => {
    expect(isClosedToCommands('.vscode\\tasks.json', '/root')).toBe(true)
    expect(isHiddenFromCommands('a\\.env', false, '/root')).toBe(true)
  })

  it('are open where they only look similar', () => {
    checkEach(
      ['README~1.MD', 'SRC~1', 'a~b', 'notes~', 'x.~1~', 'a:b', ':x', 'a\\b', 'progra~1', 'main~1.ts'],
      (name) => {
        expect([closed(name, 'write'), closed(name, 'read')]).toEqual([false, false])
      },
    )
  })
})

describe('what was set aside', () => {
  const asides = (names: readonly string[]) => names.map((name) => `${name}.set-aside-0123abcd`)

  it('folders of secrets are still closed', () => {
    checkEach(asides(['.ssh', '.gnupg', '.aws', '.tool-hub', '.TOOL-HUB']), (name) => {
      expect([closed(`${name}/x`, 'read'), closed(`${name}/x`, 'write'), isHiddenFromCommands(name, true)]).toEqual([
        ...[true, true, true],
      ])
      expect(isClosedToCommands(name, 'folder')).toBe(false)
    })
  })

  it('secrets are still closed', () => {
    checkEach(asides(['.netrc', '.pypirc', 'a.pem']), (name) => {
      expect([closed(name, 'read'), isHiddenFromCommands(name, false)]).toEqual([true, true])
    })
  })

  it('what was only closed to writing is open', () => {
    checkEach(asides(['.vscode', '.claude', 'tool-hub.yaml']), (name) => {
      expect([closed(name, 'read'), closed(name, 'write'), isClosedToCommands(name, 'folder')]).toEqual([
        ...[false, false, false],
      ])
      expect(isHiddenFromCommands(name, true)).toBe(false)
    })
  })
})

describe('names that only contain one of the list', () => {
  it('are open', () => {
    checkEach(
      [
        ...[
          'x.bashrc',
          '.bashrc2',
          'my-lefthook.yml',
          'lefthook.yml.md',
          'xopencode.json',
          'crush.json.txt',
          'amise.toml',
        ],
        ...[
          'mise.toml.md',
          'a.code-workspace.md',
          'xtool-hub.yaml',
          'tool-hub.yaml.md',
          'vscode',
          'bin',
          'config.toml',
        ],
      ],
      (name) => {
        expect([closed(name, 'write'), isClosedToCommands(name, 'folder')]).toEqual([false, false])
      },
    )
  })

  it('are not secrets', () => {
    checkEach(['a.keys', 'key.a', 'id_rsa.pub', 'my_id_rsa', 'x.envs', '.netrc2', 'x.htpasswd', 'a.pem.md'], (name) => {
      expect([closed(name, 'read'), isHiddenFromCommands(name, false)]).toEqual([false, false])
    })
  })

  it('and files that are only trusted as files are open as folders', () => {
    expect(closed('.profile/notes.md', 'write')).toBe(false)
  })
})

it.each([
  ['.GIT', '.git'],
  ['git~1', '.git'],
  ['GIT~23', '.git'],
  ['git~1x', 'git~1x'],
  ['xgit~1', 'xgit~1'],
  ['.git. . ', '.git'],
  ['. .git', '. .git'],
  ['.e\u00adnv', '.env'],
  ['.KIT\u212a', '.kitk'],
  ['README.md', 'readme.md'],
])('%j is %j to somebody', (name, folded) => {
  expect(foldName(name)).toBe(folded)
})
