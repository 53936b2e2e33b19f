import { execFile, spawn } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { firstMember } from './support/gzip.ts'
import { programPath } from './support/installed.ts'
import { describeInBrowser, withBrowser } from './components/browser.ts'
import { describeWith, pythonClients } from './support/needs.ts'
import { numbered, oneTable } from './support/one-table.ts'
import { endWithFile } from './support/each-file.ts'
import { freePort } from './support/ports.ts'
import { startServer } from './support/programs.ts'
import { temporaryFolder } from './support/workshop.ts'
import { until } from './support/until.ts'

/**
 * Downloads and exports, byte for byte, through programs that people have: each reads gzip in its own way, and several
 * end it with its first member.
 */

const run = promisify(execFile)
const rowCount = 20_000

/** The rows of each address as CSV; the last one is a gzip file. */
const targets = {
  whole: '/api/v1/dataset/d/t/export/?format=csv',
  'in another order': '/api/v1/dataset/d/t/export/?format=csv&ordering=-n',
  filtered: '/api/v1/dataset/d/t/export/?format=csv&place=Bel%C3%A9m',
  page: '/api/v1/dataset/d/t/data/?format=csv&page_size=5000',
  file: '/files/d/t.csv.gz',
} as const
type Target = keyof typeof targets

let base = ''
let port = 0
const texts = new Map<Target, Buffer>()

beforeAll(async () => {
  const places = ['Belém', 'São Paulo', '"Santa, Rita"']
  const csv = numbered(rowCount, 'n,place,note', (n) => [places[n % 3], n % 5 === 0 ? '' : `note ${n}`])
  const { settings } = await oneTable(csv, ['n:integer', 'place:string', 'note:string'], {
    table: { filters: ['n', 'place'] },
  })
  ;({ port } = await startServer(settings))
  base = `http://127.0.0.1:${port}`
  for (const [target, address] of Object.entries(targets) as [Target, string][]) {
    const response = await fetch(base + address, { headers: { 'Accept-Encoding': 'identity' } })
    const body = Buffer.from(await response.arrayBuffer())
    texts.set(target, target === 'file' ? firstMember(body).text : body)
  }
})

/** Runs a client that writes the rows to its standard output. */
async function expectEveryByte(command: readonly [string, ...string[]], from = base): Promise<void> {
  const [program, ...args] = command
  for (const [target, address] of Object.entries(targets) as [Target, string][]) {
    const { stdout } = await run(program, [...args, from + address, target], {
      encoding: 'buffer',
      maxBuffer: 10_000_000,
    })
    expect([target, stdout.equals(texts.get(target) ?? Buffer.of())]).toEqual([target, true])
  }
}

test('each address under test returns all of its rows', () => {
  const linesOf = (target: Target): number => (texts.get(target)?.toString().split('\n').length ?? 0) - 2
  expect((Object.keys(targets) as Target[]).map(linesOf)).toEqual([
    rowCount,
    rowCount,
    Math.ceil(rowCount / 3),
    5000,
    rowCount,
  ])
})

/** Programs by name, with the arguments before the address and the name of the target. */
const clients: [name: string, program: string, args: string[]][] = [
  [
    'curl',
    'bash',
    ['-c', 'if [ "$1" = file ]; then curl -sSfL $0 | gunzip; else curl -sSf --compressed $0; fi'],
  ],
  ['wget', 'bash', ['-c', 'wget -qO- --compression=auto $0 | if [ "$1" = file ]; then gunzip; else cat; fi']],
  [
    'Python',
    'python3',
    [
      '-c',
      `import sys, zlib, urllib.request as web
packed = web.urlopen(web.Request(sys.argv[1], headers={'Accept-Encoding': 'gzip'}))
unpack = zlib.decompressobj(31)
isPacked = sys.argv[2] == 'file' or packed.headers['Content-Encoding'] == 'gzip'
sys.stdout.buffer.write(unpack.decompress(packed.read()) if isPacked else packed.read())`,
    ],
  ],
  [
    'Ruby',
    'ruby',
    [
      '-ropen-uri',
      '-rnet/http',
      '-rzlib',
      '-e',
      `address, target = ARGV
STDOUT.binmode
if target == 'file' then print Zlib::GzipReader.new(URI.open(address)).read
else
  text = Net::HTTP.get(URI(address))
  raise 'open-uri differs' if text.b != URI.open(address).read.b
  print text
end`,
    ],
  ],
  [
    'Perl',
    'perl',
    [
      '-MLWP::UserAgent',
      '-MIO::Uncompress::Gunzip=gunzip',
      '-e',
      `my ($address, $target) = @ARGV; binmode STDOUT;
my $answer = LWP::UserAgent->new->get($address, 'Accept-Encoding' => 'gzip');
die $answer->status_line unless $answer->is_success;
my $body = $answer->decoded_content(charset => 'none');
if ($target eq 'file') { my $packed = $answer->content; gunzip \\$packed => \\$body }
print $body;`,
    ],
  ],
  [
    'PHP',
    'php',
    [
      '-r',
      `[, $address, $target] = $argv;
if ($target === 'file') { echo gzdecode(file_get_contents($address)); exit; }
$curl = curl_init($address);
curl_setopt_array($curl, [CURLOPT_ENCODING => '', CURLOPT_RETURNTRANSFER => true, CURLOPT_FAILONERROR => true]);
$text = curl_exec($curl);
if ($text === false || $text !== file_get_contents($address)) exit(1);
echo $text;`,
      '--',
    ],
  ],
  [
    'R',
    'Rscript',
    [
      '-e',
      `given <- commandArgs(TRUE)
from <- url(given[1], "rb")
if (given[2] == "file") from <- gzcon(from)
to <- pipe("cat", "wb")
rows <- -1
while (length(bytes <- readBin(from, "raw", 1e6)) > 0) {
  writeBin(bytes, to)
  rows <- rows + sum(bytes == charToRaw("\\n"))
}
close(to)
read <- nrow(readr::read_csv(given[1], show_col_types = FALSE))
if (read != rows) stop(read, " rows instead of ", rows)`,
    ],
  ],
]

for (const [name, program, args] of clients)
  describeWith(programPath(program) !== null, `${program} (Debian)`)(name, () => {
    test('reads every byte', async () => {
      await expectEveryByte([program, ...args])
      expect.assertions(Object.keys(targets).length)
    }, 60_000)
  })

const varnish = programPath('varnishd')
describeWith(varnish !== null, 'varnishd (Debian: varnish)')(
  'through Varnish with its default settings',
  () => {
    test('curl reads every byte, first from the server and then from the cache', async () => {
      const [ownPort, home] = [await freePort(), path.join(await temporaryFolder(), 'varnish')]
      await mkdir(home)
      const child = spawn(
        varnish ?? '',
        [
          '-F',
          '-j',
          'none',
          '-n',
          home,
          '-a',
          `127.0.0.1:${ownPort}`,
          '-b',
          `127.0.0.1:${port}`,
          '-s',
          'malloc,64m',
        ],
        { stdio: 'ignore' },
      )
      endWithFile(() => void child.kill('SIGKILL'))
      const from = `http://127.0.0.1:${ownPort}`
      await until(() =>
        fetch(`${from}/livez`).then(
          ({ ok }) => ok,
          () => false,
        ),
      )
      const [, program = '', args = []] = clients[0] ?? []
      await expectEveryByte([program, ...args], from)
      await expectEveryByte([program, ...args], from)
      expect.assertions(2 * Object.keys(targets).length)
    }, 60_000)
  },
)

const python = process.env['ACERVO_CLIENTS'] ?? ''
describeWith(python !== '', pythonClients)('polars', () => {
  test('can scan a Parquet file that is smaller than the tail that polars requests', async () => {
    const script = `import sys, polars
print(polars.scan_parquet(sys.argv[1]).select(polars.len(), polars.col('n').sum()).collect().row(0))`
    const { stdout } = await run(path.join(python, 'python'), ['-c', script, `${base}/files/d/t.parquet`])
    expect(stdout.trim()).toBe(`(${rowCount}, ${(rowCount * (rowCount - 1)) / 2})`)
  }, 60_000)
})

describeInBrowser('a browser', () => {
  const browser = withBrowser()

  test.each(['', '?place=Bel%C3%A9m', '?ordering=-n'])(
    'saves all rows after a click on CSV on the page with the query "%s"',
    async (query) => {
      const page = await browser().newPage()
      await page.goto(`${base}/en/dataset/d/t/${query}`)
      await page.click('#downloads > summary')
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.click('#downloads a[href*="format=csv"]:not([href*="excel"])'),
      ])
      const target = { '': 'whole', '?ordering=-n': 'in another order' }[query] ?? 'filtered'
      expect((await readFile(await download.path())).equals(texts.get(target as Target) ?? Buffer.of())).toBe(
        true,
      )
      await page.close()
    },
    60_000,
  )

  test('lets a script fetch a whole download, page or export', async () => {
    const page = await browser().newPage()
    for (const [target, address] of Object.entries(targets)) {
      const text = await page.evaluate(
        async ([from, isFile]) => {
          const { body } = await fetch(from as string)
          if (body === null) throw new Error('no body')
          return new Response(
            isFile === true ? body.pipeThrough(new DecompressionStream('gzip')) : body,
          ).text()
        },
        [base + address, target === 'file'],
      )
      expect([target, Buffer.from(text).equals(texts.get(target as Target) ?? Buffer.of())]).toEqual([
        target,
        true,
      ])
    }
    await page.close()
  }, 60_000)
})
