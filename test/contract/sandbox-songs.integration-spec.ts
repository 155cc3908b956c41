import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../src/common/json-object.js';
import { SystemClock } from '../../src/common/time/clock.js';
import type { SongCommand, SongPort, SongResult } from '../../src/providers/ports/song.port.js';
import { HttpTransport } from '../../src/providers/http/http-transport.js';
import { TTAPI_ENDPOINTS } from '../../src/providers/ttapi/ttapi-endpoints.js';
import { ttapiPorts } from '../../src/providers/ttapi/ttapi-ports.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js';
import { AT_ONCE } from '../support/ttapi-client.js';

const TIMEOUT_MS = 30_000;

let sandbox: Sandbox;
let transport: HttpTransport;
let adapter: SongPort;
const made = new Map<string, SongResult>();
beforeAll(async () => {
  sandbox = await startSandbox();
  const { apiKey } = sandbox;
  const baseUrl = `${sandbox.url}/ttapi`;
  transport = new HttpTransport(TIMEOUT_MS);
  const access = { id: 'ttapi', baseUrl, apiKey, transport, clock: new SystemClock() };
  adapter = ttapiPorts(access).song!;
  for (const source of ['suno/music', 'suno/extend', 'suno/persona', 'suno/custom-model']) {
    await run(source);
  }
  await run('flowmusic/generations');
});
afterAll(async () => {
  await transport.close();
  await sandbox.close();
});

const audio_url = `https://example.com/a.mp3?${AT_ONCE}`;
const clips = (count: number) =>
  Array.from({ length: count }, (_, index) => `https://example.com/${index}.mp3?${AT_ONCE}`);
const controls = {
  duration: 12,
  variety: 'max',
  vocal_gender: 'female',
  style_weight: 0.5,
  weirdness_constraint: 0.5,
  audio_weight: 0.5,
  max_mode: true,
};
/** Every field that a creation accepts. */
const written = {
  custom: true,
  instrumental: false,
  prompt: `La la la ${AT_ONCE}`,
  tags: 'folk',
  title: 'A song',
  negative_tags: 'metal',
  version: 'v6-wild',
  ...controls,
};
const described = {
  custom: false,
  instrumental: false,
  gen_description: `The sea ${AT_ONCE}`,
  variety: 'low',
  version: 'v6',
  max_mode: false,
};
const rework = { instruction: `More strings ${AT_ONCE}`, title: 'New', seed: 4_294_967_295 };

/** The public fields of every operation, as many as possible. */
const FIELDS: Readonly<Record<string, JsonObject>> = {
  'suno/music': { ...written, tags: undefined, style: 'folk', auto_lyrics: true },
  'suno/lyrics': { prompt: `The sea ${AT_ONCE}`, lyrics_model: 'remi' },
  'suno/inspo': { ...written, custom: undefined, audio_urls: clips(4), auto_lyrics: true },
  'suno/sounds': { prompt: `Rain ${AT_ONCE}`, type: 'loop', bpm: 300, key: 'A#m' },
  'suno/upsample-tags': { tags: 'folk' },
  'suno/upload': { audio_url, title: 'Mine' },
  'suno/upload-cover': { ...written, audio_url },
  'suno/upload-extend': { ...written, audio_url, continue_at: 29.5 },
  'suno/custom-model': { name: 'Mine', audio_urls: clips(24) },
  'suno/extend': { ...written, continue_at: 10, auto_lyrics: false },
  'suno/cover': written,
  'suno/remaster': { version: 'v6', variation_category: 'normal', style_profile: 'clarity' },
  'suno/replace-section': {
    ...{ version: 'v6', start_s: 2, end_s: 9, infill_lyrics: 'New', prompt: 'La', tags: 'folk' },
    ...{ negative_tags: 'metal', title: 'New', max_mode: true },
  },
  'suno/remove-section': { start_s: 2, end_s: 5 },
  'suno/crop': { start_s: 2, end_s: 5 },
  'suno/fade-in': { fade_time_s: 3 },
  'suno/fade-out': { fade_time_s: 3, title: 'Out' },
  'suno/adjust-speed': { speed_multiplier: 1.5, keep_pitch: true },
  'suno/concat': {},
  'suno/mashup': written,
  'suno/sample': { ...written, start_s: 2, end_s: 5 },
  'suno/stems': { stem_type: 'lead_vocal' },
  'suno/stems-all': {},
  'suno/add-vocals': { ...written, instrumental: undefined },
  'suno/add-instrumental': { ...written, prompt: undefined },
  'suno/add-stem': {
    ...{ stem_type: 'flute', version: 'v6', tags: 'soft', prompt: 'La', negative_tags: 'metal' },
    ...{ title: 'New', start_s: 1, end_s: 3, max_mode: true },
  },
  'suno/create-voice': { audio_url, name: 'Ada', description: 'Warm' },
  'suno/persona': {
    ...{ name: 'Ada', description: 'Warm', style: 'folk', vocal_start_s: 1, vocal_end_s: 9 },
  },
  'suno/gen-midi': {},
  'suno/aligned-lyrics': {},
  'suno/bpm': {},
  'suno/mp4': {},
  'suno/download': { formats: ['wav', 'm4a', 'mp3'] },
  'flowmusic/generations': {
    ...{ prompt: `Piano ${AT_ONCE}`, lyrics: 'La la la', title: 'A clip', duration: 12 },
    ...{ bpm: 90, seed: 0 },
  },
  'flowmusic/lyrics': { prompt: `The sea ${AT_ONCE}` },
  'flowmusic/extend': { ...rework, continue_at: 10, duration: 20 },
  'flowmusic/replace': { ...rework, start_s: 2, end_s: 5 },
  'flowmusic/cover': { ...rework, strength: 0.5 },
  'flowmusic/stems': {},
  'flowmusic/upload': { audio_url, title: 'Mine' },
  'flowmusic/download': { format: 'wav' },
  'flowmusic/video': { template: 'player' },
};
const SOURCELESS =
  /music$|lyrics$|inspo|sounds|upsample|upload|custom-model|create-voice|generations/;

function sourcesOf(call: string): string[] {
  if (SOURCELESS.test(call) && call !== 'suno/aligned-lyrics') return [];
  const [family] = call.split('/');
  const source = family === 'suno' ? 'suno/music' : 'flowmusic/generations';
  const tracks = made.get(call === 'suno/concat' ? 'suno/extend' : source)?.tracks ?? [];
  return tracks.slice(0, call === 'suno/mashup' ? 2 : 1).flatMap(({ id }) => id ?? []);
}

/** All steps of an operation, and its job until it is done. */
async function run(call: string, rest: Partial<SongCommand> = {}): Promise<SongResult> {
  const command = { fields: FIELDS[call] ?? {}, trackIds: sourcesOf(call), ...rest };
  const context = { upstreamModel: call, signal: new AbortController().signal };
  let memory: JsonObject = {};
  for (;;) {
    const report = await adapter.submitSong(command, memory, context);
    if (report.state === 'step') {
      memory = report.stepState;
      continue;
    }
    if (report.state === 'failed') throw new Error(`${call} was refused`);
    const result = report.state === 'done' ? report.result : undefined;
    const finished = result ?? (await resultOf(call, command, report as { jobId: string }));
    made.set(call, finished);
    return finished;
  }
}

async function resultOf(
  call: string,
  command: SongCommand,
  { jobId }: { readonly jobId: string },
): Promise<SongResult> {
  const context = { upstreamModel: call, signal: new AbortController().signal };
  for (;;) {
    const report = await adapter.readSong(jobId, command.fields, context);
    if (report.state === 'succeeded') return report.result;
    if (report.state !== 'pending') throw new Error(`${call} is ${report.state}`);
    await sleep(20);
  }
}

describe('the song adapter against the sandbox', () => {
  it('has fields for every operation', () => {
    expect(Object.keys(FIELDS).sort()).toEqual(Object.keys(TTAPI_ENDPOINTS).sort());
  });

  it.each(Object.keys(FIELDS))('%s is done with all its fields', async (call) => {
    expect(Object.keys(await run(call))).not.toEqual([]);
  });

  it.each(['suno/extend', 'suno/cover', 'suno/mashup', 'suno/add-vocals'])(
    '%s is done from a description',
    async (call) => {
      const place = call === 'suno/extend' ? { continue_at: 3 } : {};
      const fields = { ...described, ...place };
      expect((await run(call, { fields })).tracks).toHaveLength(2);
    },
  );

  it('sings as a persona, and with a model of the caller', async () => {
    const personaId = made.get('suno/persona')?.persona?.id;
    const customModelId = made.get('suno/custom-model')?.customModel?.id;
    const fields = { ...FIELDS['suno/music'], version: undefined };
    expect((await run('suno/music', { personaId })).tracks).toHaveLength(2);
    expect((await run('suno/music', { fields, customModelId })).tracks).toHaveLength(2);
  });
});
