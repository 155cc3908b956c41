import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { SHIPPED_VERSION } from '../bench/servers/runtime.js';
import { START_FLAGS } from '../scripts/start-flags.js';
import { SETTINGS } from '../src/platform/config/settings.js';

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), 'utf8');

describe('the files that are shipped', () => {
  it('name a runtime that the image ships and the packages take', () => {
    const [major, minor] = SHIPPED_VERSION.split('.');
    const shipped = read('Dockerfile').match(/(?<=^FROM node:)\d+/gm);
    expect(new Set(shipped)).toEqual(new Set([major]));
    const [, ...least] = />=(\d+)\.(\d+)"/.exec(read('package.json')) ?? [];
    expect([major, Number(minor) >= Number(least[1])]).toEqual([least[0], true]);
    const { version } = JSON.parse(read('package.json')) as { version: string };
    expect(read('Dockerfile')).toContain(`ARG VERSION=${version} `);
  });

  it('start the gateway with the same options of Node.js everywhere', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const image = [...read('Dockerfile').matchAll(/^CMD (\[.*\])$/gm)].at(-1)?.[1] ?? '[]';
    const [, ...ofImage] = (JSON.parse(image) as string[]).slice(0, -1);
    expect(ofImage).toEqual(START_FLAGS);
    expect(scripts.start).toBe(`exec node ${START_FLAGS.join(' ')} scripts/start.js`);
  });

  it.each(['src/main.ts', 'src/cli.ts'])('are in the image where %s imports them', (program) => {
    const outside = [...read(program).matchAll(/'\.\.\/(scripts\/[\w./-]+)'/g)].map(
      ([, path]) => path,
    );
    expect(outside).not.toEqual([]);
    const image = read('Dockerfile')
      .split('\nFROM ')
      .find((stage) => stage.includes(' AS base\n'));
    for (const path of outside) expect(image).toContain(`COPY ${path} ./scripts/`);
  });

  it('pass every setting to the containers, and none that does not exist', () => {
    const gateway = read('docker-compose.yml').split('\n  postgres:')[0] ?? '';
    const names = [...gateway.matchAll(/^ {6}([A-Z0-9_]+):/gm)].map(([, name]) => name);
    // The image sets these itself.
    const ofTheImage = ['PORT', 'HOST', 'DATA_DIR'];
    const passed = Object.keys(SETTINGS).filter((name) => !ofTheImage.includes(name));
    expect(names.filter((name) => !name?.startsWith('AWS_')).sort()).toEqual(passed.sort());
  });
});
