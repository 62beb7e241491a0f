import { hiddenRow, type ProgramTable, reachRow } from '../program-table.ts'

/** Programs that work on another machine. */
export const REMOTE: readonly ProgramTable[] = [
  {
    names: 'ssh slogin',
    style: 'exact',
    rows: [
      hiddenRow('-o=TEXT', 'sets an option, and some name a program to run', '-o ProxyCommand=./x host'),
      hiddenRow('-F=FILE', 'reads its options from a file', '-F x.cfg host'),
      reachRow('-J=TEXT', 'goes through another machine', '-J jump host'),
      reachRow('-L=TEXT', 'opens a port of this machine', '-L 80:x:80 host'),
      reachRow('-R=TEXT', 'lets the other machine reach this network', '-R 80:x:80 host'),
      reachRow('-D=TEXT', 'opens a proxy', '-D 1080 host'),
      reachRow('-W=TEXT', 'connects to a third machine', '-W x:80 host'),
      reachRow('-w=TEXT', 'makes a tunnel', '-w 0:0 host'),
      reachRow('-A -Y -X', 'lets the other machine use keys or the screen of this one', '-A host'),
      reachRow('-f', 'continues when the call is over', '-f host'),
      reachRow('-i=FILE', 'uses a key from a file', '-i key host'),
      hiddenRow('-I=FILE', 'loads a library', '-I ./x.so host'),
      reachRow('-E=FILE', 'writes a file', '-E x.log host'),
      reachRow('-S=FILE', 'uses a connection of another program', '-S x.sock host'),
      reachRow('-M', 'shares its connection with other programs', '-M host'),
    ],
    // It reads options after the name of the machine too, so every word is looked at.
    texts: '-b -B -c -e -l -m -O -p -Q',
    operands: 'texts',
    operandRows: [{ from: 2, kind: 'hidden', reason: 'is a command for another machine', example: 'host ls' }],
    implied: { kind: 'hidden', reason: 'runs commands on another machine', example: 'host' },
  },
  {
    names: 'autossh mosh rsh rlogin pssh sshpass sshfs ssh-copy-id ssh-agent ssh-add ssh-keygen',
    implied: { kind: 'hidden', reason: 'uses keys, or runs commands on another machine', example: 'host ls' },
  },
  {
    names: 'scp',
    style: 'exact',
    rows: [
      hiddenRow('-S=TEXT', 'runs a program in place of ssh', '-S ./x'),
      hiddenRow('-o=TEXT', 'sets an option, and some name a program to run', '-o ProxyCommand=./x'),
      hiddenRow('-F=FILE', 'reads its options from a file', '-F x.cfg'),
      hiddenRow('-D=TEXT', 'runs a program in place of a server', '-D ./x'),
      hiddenRow('-b=FILE', 'reads commands from a file', '-b x'),
      reachRow('-J=TEXT', 'goes through another machine', '-J jump'),
      reachRow('-i=FILE', 'uses a key from a file', '-i key'),
    ],
    texts: '-c -l -P',
    implied: { kind: 'reach', reason: 'copies to or from another machine', example: 'a.txt host:' },
  },
  {
    names: 'rsync',
    rows: [
      hiddenRow('-e --rsh=TEXT', 'runs a program to reach a machine', '-e ./x'),
      hiddenRow('--rsync-path=TEXT', 'runs a program on the other machine', '--rsync-path=./x'),
      hiddenRow('-M --remote-option=TEXT', 'sets options of the other side', '-M--x'),
      reachRow('--files-from --exclude-from --include-from=FILE', 'reads names from a file', '--files-from=list'),
      hiddenRow('-f --filter=TEXT', 'may read rules from a file', '--filter=merge,x'),
      reachRow('--password-file --early-input=FILE', 'sends a file', '--password-file=x'),
      reachRow(
        '--log-file --write-batch --only-write-batch --read-batch=FILE',
        'writes or reads a file',
        '--log-file=x',
      ),
      reachRow('-T --temp-dir --backup-dir --partial-dir=FILE', 'writes to another folder', '-T x'),
      reachRow('--compare-dest --copy-dest --link-dest=FILE', 'uses another folder', '--link-dest=x'),
      reachRow(
        '--delete --del --delete-after --delete-before --delete-during --delete-excluded',
        'deletes files',
        '--delete',
      ),
      reachRow('--remove-source-files', 'deletes files', '--remove-source-files'),
      hiddenRow('--daemon --config=FILE', 'starts a server', '--config=x'),
    ],
    texts:
      '--exclude --include --chmod --chown --max-size --min-size --bwlimit --timeout --port --suffix -B --block-size',
    operands: 'paths',
    operandRows: [{ like: /:/, kind: 'reach', reason: 'is on another machine', example: 'host:x' }],
    clean: '-a a b',
  },
  {
    names: 'sftp ftp lftp tftp telnet',
    implied: {
      isUnnamed: true,
      kind: 'hidden',
      reason: 'takes commands from its input, and some start programs',
      example: 'host',
    },
  },
  {
    names: 'nc ncat netcat',
    style: 'exact',
    rows: [
      hiddenRow('-e --exec=TEXT', 'runs a program for the other side', '-e ./x host 80'),
      hiddenRow('-c --sh-exec=TEXT', 'runs a script for the other side', '-c x host 80'),
      hiddenRow('--lua-exec=FILE', 'runs a program for the other side', '--lua-exec x host 80'),
    ],
    implied: { kind: 'hidden', reason: 'passes on what another machine sends', example: 'x 80' },
  },
  {
    names: 'socat',
    operandRows: [
      {
        like: /^\W*(?:exec|system|shell)\b/i,
        kind: 'hidden',
        reason: 'is a program that it runs',
        example: 'exec:./x -',
      },
    ],
    implied: { kind: 'hidden', reason: 'passes on what another machine or program sends', example: '- tcp:x:80' },
  },
  {
    names: 'nmap ping dig nslookup host traceroute whois openssl',
    implied: { kind: 'reach', reason: 'reaches the network or files of its own choice', example: 'x 80' },
  },
]

const CONTAINER_FILES =
  'compose.yaml compose.yml docker-compose.yaml docker-compose.yml compose.override.yaml compose.override.yml ' +
  'docker-compose.override.yaml docker-compose.override.yml Dockerfile Containerfile'
const EXPOSES = 'gives the container more of this machine'

/** docker and similar programs control the machine, so only listing is harmless. */
export const CONTAINERS: readonly ProgramTable[] = [
  {
    names: 'docker podman nerdctl',
    projectFiles: CONTAINER_FILES,
    style: 'exact',
    mayRunWords: true,
    rows: [
      reachRow('-H --host=TEXT', 'commands another machine', '-H tcp://x'),
      reachRow('-c --context=TEXT', 'commands another machine', '-c x'),
      hiddenRow('--config=FILE', 'uses another configuration', '--config x'),
      reachRow('--tlscacert --tlscert --tlskey=FILE', 'uses keys from a file', '--tlskey=x'),
      reachRow('--root --runroot --storage-opt --url --connection --identity=FILE', 'uses another store', '--root x'),
      reachRow('--remote -r', 'commands another machine', '--remote'),
    ],
    texts: '-l --log-level',
    flags: '-D --debug --tls --tlsverify -v --version --help',
    commands: [
      {
        names: 'ps images version info top port diff history inspect',
        style: 'exact',
        texts: '-f --filter --format -n --last --type',
        operands: 'texts',
      },
      {
        names: 'logs',
        style: 'exact',
        rows: [reachRow('-f --follow', 'waits for more and never ends', '-f')],
        texts: '--since --until -n --tail',
        operands: 'texts',
        clean: '--tail 5 x',
      },
      {
        names: 'stats events',
        style: 'exact',
        flags: '--no-stream',
        operands: 'texts',
        implied: { unless: '--no-stream', kind: 'reach', reason: 'waits for more and never ends', example: '' },
        clean: '--no-stream',
      },
      {
        names: 'run create',
        style: 'exact',
        rows: [
          reachRow(
            '-v --volume --mount --volumes-from --device=TEXT',
            'opens files or devices of this machine',
            '-v /:/x alpine',
          ),
          reachRow('--privileged', EXPOSES, '--privileged alpine'),
          reachRow('--cap-add --security-opt --cgroup-parent --gpus=TEXT', EXPOSES, '--cap-add=ALL alpine'),
          reachRow('--pid --net --network --ipc --uts --userns --cgroupns=TEXT', EXPOSES, '--net=host alpine'),
          reachRow('-p --publish=TEXT', 'opens a port', '-p 80:80 alpine'),
          reachRow('--env-file --label-file --cidfile=FILE', 'reads or writes a file', '--env-file=x alpine'),
          hiddenRow('--entrypoint=TEXT', 'runs another program of the image', '--entrypoint=sh alpine'),
          hiddenRow('--runtime=TEXT', 'uses another program to start it', '--runtime=x alpine'),
        ],
        texts:
          '-e --env -w --workdir --name -u --user -m --memory --cpus --platform --pull --restart -l --label -h --hostname --add-host',
        stopsAtOperand: true,
        operands: 'texts',
        implied: {
          kind: 'reach',
          reason: 'starts a container, which is as good as commanding the machine',
          example: 'alpine ls',
        },
      },
      {
        names: 'exec cp build buildx attach commit compose stack swarm service',
        style: 'exact',
        implied: {
          kind: 'reach',
          reason: 'runs programs or copies files with the rights of the daemon',
          example: 'x ls',
        },
      },
      {
        names: 'pull push login logout save load import export',
        style: 'exact',
        implied: { kind: 'reach', reason: 'moves images to or from this machine', example: 'alpine' },
      },
    ],
    otherwise: { kind: 'reach', reason: 'changes what the daemon runs or keeps', example: 'rm x' },
    clean: 'ps',
  },
  {
    names: 'docker-compose podman-compose buildah skopeo lxc lxd incus nsenter runc crun ctr machinectl systemd-nspawn',
    projectFiles: CONTAINER_FILES,
    mayRunWords: true,
    implied: { kind: 'reach', reason: 'starts containers or enters them', example: 'up' },
  },
  {
    names:
      'kubectl oc helm terraform tofu pulumi ansible ansible-playbook vagrant aws gcloud az doctl flyctl heroku vercel',
    mayRunWords: true,
    implied: { kind: 'reach', reason: 'commands other machines', example: 'apply' },
  },
]
