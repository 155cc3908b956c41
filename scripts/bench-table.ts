import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { BenchResult } from '../bench/result.js';

const README = new URL('../bench/README.md', import.meta.url);
const BENCHMARKS = new URL('../bench/', import.meta.url);
/** The table stands between these lines of the page. */
const PLACE = /(?<=<!-- made by npm run bench:table -->\n)[^]*?(?=<!-- end -->)/;
const HEAD = '| Benchmark | Targets | Figure (target) | Measured |\n| - | - | - | - |\n';

type KeptResult = BenchResult & { readonly node: string; readonly at: string };

/** A row for each benchmark that has a result: every figure that has a target. */
function tableOf(): string {
  const names = readdirSync(BENCHMARKS).filter((file) => file.endsWith('.ts'));
  const rows = names.sort().flatMap((file) => {
    const name = file.slice(0, -'.ts'.length);
    const path = new URL(`results/${name}.json`, BENCHMARKS);
    return existsSync(path)
      ? [rowOf(name, JSON.parse(readFileSync(path, 'utf8')) as KeptResult)]
      : [];
  });
  return HEAD + rows.join('');
}

function rowOf(name: string, { figures, targets, passed, node, at }: KeptResult): string {
  const met = Object.entries(targets).map(
    ([figure, target]) => `${figure}: ${figures[figure] ?? 'none'} (${target})`,
  );
  const verdict = passed ? 'met' : '**missed**';
  return `| \`${name}\` | ${verdict} | ${met.join('<br>')} | ${at.slice(0, 10)}, Node ${node.slice(1)} |\n`;
}

/** `bench/README.md` with the table of the results that are kept in `bench/results`. */
export const benchPage = (page: string): string => page.replace(PLACE, () => tableOf());

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(README, benchPage(readFileSync(README, 'utf8')));
}
