import type { ProgramTable } from '../program-table.ts'
import { hiddenRow, reachRow } from '../row.ts'

/** wget writes a file unless told to print, and other programs that fetch. */
export const WGET: readonly ProgramTable[] = [
  {
    names: 'wget wget2',
    risk: 'network',
    rows: [
      reachRow('-O --output-document=FILE', 'writes a file', '-O out.txt', /^(?!-$)/),
      reachRow('-P --directory-prefix=FILE', 'writes into a folder', '-P x'),
      reachRow('-o --output-file=FILE', 'writes a file', '-o x.log', /^(?!-$)/),
      reachRow('-a --append-output=FILE', 'writes a file', '-a x.log'),
      reachRow('-i --input-file=FILE', 'reads addresses from a file', '-i list'),
      reachRow('-B --base=TEXT', 'goes to other addresses than it is given', '-B https://example.com'),
      reachRow('--post-file --body-file=FILE', 'sends a file', '--post-file=x'),
      hiddenRow('--use-askpass=TEXT', 'runs a program', '--use-askpass=./x'),
      hiddenRow('-e --execute=TEXT', 'sets any of its settings', '-e use_proxy=yes'),
      hiddenRow('--config=FILE', 'reads its settings from a file', '--config=x'),
      reachRow('-r --recursive', 'follows links and writes many files', '-r'),
      reachRow('-m --mirror', 'follows links and writes many files', '-m'),
      reachRow('-p --page-requisites', 'writes many files', '-p'),
      reachRow('-H --span-hosts', 'continues to other machines', '-H'),
      reachRow('-b --background', 'continues when the call is over', '-b'),
      reachRow('--load-cookies --save-cookies=FILE', 'reads or writes a file', '--load-cookies=x'),
      reachRow(
        '--hsts-file --warc-file --warc-dedup --warc-tempdir --rejected-log=FILE',
        'writes a file',
        '--warc-file=x',
      ),
      reachRow(
        '--certificate --private-key --ca-certificate --ca-directory --crl-file=FILE',
        'uses keys from a file',
        '--ca-certificate=x',
      ),
      reachRow('--random-file --egd-file=FILE', 'reads a file', '--random-file=x'),
      reachRow('--no-check-certificate', 'trusts any machine', '--no-check-certificate'),
      reachRow('--bind-address --bind-dns-address --dns-servers=TEXT', 'chooses its own way', '--dns-servers=1.1.1.1'),
      reachRow('--content-disposition', 'writes a file named by the other side', '--content-disposition'),
      reachRow('--trust-server-names', 'writes a file named by the other side', '--trust-server-names'),
      reachRow('--delete-after', 'deletes files', '--delete-after'),
      reachRow('-l --level=TEXT', 'follows links', '-l 2'),
      reachRow('--use-server-timestamps --xattr', 'writes attributes of a file', '--xattr'),
    ],
    texts:
      '-n -t --tries -T --timeout -w --wait -Q --quota -U --user-agent --header --referer --post-data --body-data --method ' +
      '--user --password --http-user --http-password -A --accept -R --reject -D --domains -I -X --max-redirect --limit-rate ' +
      '--dns-timeout --connect-timeout --read-timeout --waitretry --start-pos --compression --secure-protocol',
    flags:
      '-q --quiet -v --verbose -S --server-response --spider -c --continue -N -k -4 -6 --https-only --no-proxy -d -V',
    operands: 'texts',
    operandRows: [
      {
        like: /^(?!https?:)[a-z]+:\/\//i,
        kind: 'reach',
        reason: 'uses another protocol than HTTP',
        example: 'ftp://x.org',
      },
    ],
    implied: {
      unless: '-O --output-document --spider -V',
      kind: 'reach',
      reason: 'writes what it fetches to a file',
      example: 'https://example.com/x',
    },
    clean: '-qO- https://example.com/x',
  },
  {
    names: 'aria2c axel http https xh httpie lynx w3m links elinks',
    operands: 'guess',
    implied: { kind: 'reach', reason: 'reaches the network and may write files', example: 'https://example.com/x' },
  },
]
