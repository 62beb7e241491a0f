import type { ProgramTable } from '../program-table.ts'
import { hiddenRow, reachRow } from '../row.ts'

const EXPOSES = 'gives the container more of this machine'

/** docker and similar programs control the machine, so only listing is harmless. */
export const CONTAINERS: readonly ProgramTable[] = [
  {
    names: 'docker podman nerdctl',
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
