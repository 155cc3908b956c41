import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { send } from '../support/http-answer.js';
import { PROCESS_TEST_TIMEOUT_MS } from '../support/process.js';
import { systemProgram } from '../support/system-program.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ALERTS = 'deploy/prometheus/alerts.yml';
const RUNBOOK = 'docs/operate/runbook.md';
const METRIC = /\b(?:gateway|nodejs|process)_[a-z0-9_]+/g;
const PARTS_OF_HISTOGRAMS = /_(?:bucket|sum|count)$/;
const PROMTOOL = systemProgram('promtool');

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Dashboard {
  readonly uid: string;
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}

const dashboards = readdirSync(join(ROOT, 'deploy/grafana')).map(
  (file) => JSON.parse(read(`deploy/grafana/${file}`)) as Dashboard,
);
const panels = dashboards.flatMap(({ panels: all }) => all);
const rules = read(ALERTS)
  .split('- alert: ')
  .slice(1)
  .map((text) => ({
    name: text.split('\n')[0],
    expr: /expr: ([^]*?)\n +(?:for|labels):/.exec(text)?.[1] ?? '',
    urgency: /urgency: (\w+)/.exec(text)?.[1],
    section: /runbook: docs\/operate\/runbook\.md#(\S+)/.exec(text)?.[1] ?? '',
  }));

let gateway: TestGateway;
beforeAll(async () => {
  // Nothing listens there, so that the metric of Redis is there and 0.
  gateway = await startTestGateway({ REDIS_URL: 'redis://127.0.0.1:1' });
});
afterAll(() => gateway.stop());

describe('the alerts and dashboards', () => {
  it('name only metrics that the gateway has', async () => {
    const text = (await send(`${gateway.url}/metrics`)).bytes.toString();
    const known = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
    const expressions = [...rules, ...panels.flatMap(({ targets }) => targets)].map(
      ({ expr }) => expr,
    );
    const named = new Set(expressions.flatMap((expr) => expr.match(METRIC) ?? []));
    expect(named.size).toBeGreaterThan(50);
    const isKnown = (name: string): boolean =>
      known.has(name) || known.has(name.replace(PARTS_OF_HISTOGRAMS, ''));
    expect([...named].filter((name) => !isKnown(name))).toEqual([]);
    // Redis that is away does not look like none.
    expect(text).toMatch(/^gateway_redis_up 0$/m);
  });

  it('show every metric of the gateway', async () => {
    const text = (await send(`${gateway.url}/metrics`)).bytes.toString();
    const own = [...text.matchAll(/^# TYPE (gateway_\S+)/gm)].map(([, name = '']) => name);
    const shown = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join('\n');
    expect(own.filter((name) => !shown.includes(name))).toEqual([]);
  });

  it('have a section of the runbook and an urgency for each alert, and an alert for each metric of its table', () => {
    expect(rules.length).toBeGreaterThan(25);
    expect(rules.filter(({ expr, urgency }) => expr === '' || urgency === undefined)).toEqual([]);
    const table = read(RUNBOOK).split('\n## Money')[0] ?? '';
    const rows = table.split('\n').filter((line) => line.startsWith('| ['));
    const rowsOf = (section: string) => rows.filter((row) => row.includes(`(#${section})`));
    for (const { name, section, urgency } of rules) {
      const said = rowsOf(section).some((row) => row.endsWith(`| ${urgency} |`));
      expect([name, section, said]).toEqual([name, section, true]);
    }
    const watched = new Set(rules.map(({ section }) => section));
    const silent = rows.filter(
      (row) => row.includes('gateway_') && !watched.has(/\(#([^)]+)\)/.exec(row)?.[1] ?? ''),
    );
    expect(silent).toEqual([]);
  });

  it('are four dashboards with names of their own, each panel with a title and a query', () => {
    const uids = dashboards.map(({ uid }) => uid);
    expect(uids.sort()).toEqual(['shim-calls', 'shim-money', 'shim-process', 'shim-tasks']);
    for (const { title, targets } of panels) {
      expect(title).toMatch(/./);
      expect(targets.length).toBeGreaterThan(0);
      for (const { expr, legendFormat } of targets) expect(expr && legendFormat).toMatch(/./);
    }
  });

  (PROMTOOL === undefined ? it.skip : it)(
    'wake somebody for each fault and for nothing else, as promtool says',
    async () => {
      const run = promisify(execFile);
      const files = [
        ['check', 'rules', ALERTS],
        ['test', 'rules', 'deploy/prometheus/alerts.test.yml'],
      ];
      for (const args of files) {
        const { stdout } = await run(PROMTOOL ?? '', args, { cwd: ROOT });
        expect(stdout).toContain('SUCCESS');
      }
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
