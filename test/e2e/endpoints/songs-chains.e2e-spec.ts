import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SongHarness } from '../../support/song-harness.js';
import { AT_ONCE } from '../../support/ttapi-client.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js';

const PATIENCE_MS = 180_000;
const AUDIO = 'https://example.com/recording.mp3';
const SECRET = 'a-secret-of-a-receiver';

let harness: SongHarness;
let receiver: WebhookReceiver;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  harness = await SongHarness.start(receiver.settings);
}, PATIENCE_MS);
afterAll(async () => {
  await harness.stop();
  await receiver.stop();
});

const available = async () => (await harness.gateway.balance(harness.account.accountId)).available;

describe('a chain of song tasks', () => {
  it(
    'brings a recording in, continues it, takes the bass out and downloads it; each call costs its price',
    async () => {
      const before = await available();
      const upload = await harness.made({
        model: 'song-upload',
        audio_url: AUDIO,
        title: 'My demo',
      });
      expect(upload.result.tracks).toEqual([
        { index: 1, id: expect.any(String), title: 'My demo' },
      ]);
      const { id: extension } = await harness.submit({
        model: 'song-extend',
        source_task_id: upload.id,
        continue_at: 10,
        gen_description: `${AT_ONCE}A quiet ending`,
        webhook: receiver.url,
        webhook_secret: SECRET,
      });
      await harness.ended(extension);
      const stems = await harness.made({
        model: 'song-stems',
        source_task_id: extension,
        source_index: 2,
        stem_type: 'bass',
      });
      const download = await harness.made({
        model: 'song-download',
        source_task_id: stems.id,
        formats: ['mp3', 'wav'],
      });
      const files = download.result.files as { format: string; url: string }[];
      expect(files.map(({ format }) => format)).toEqual(['mp3', 'wav']);
      expect(before - (await available())).toBe(233_400n);

      const [delivery] = await receiver.until(1);
      const answer = await fetch(`${harness.gateway.url}/v1/tasks/${extension}`, {
        headers: harness.account.headers,
      });
      expect(delivery?.body.toString()).toBe(await answer.text());
      expect(delivery?.headers['x-shim-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
    },
    PATIENCE_MS,
  );

  it(
    'writes words, sings them, covers the tune and takes it apart',
    async () => {
      const before = await available();
      const words = await harness.made({
        model: 'tune-music-lyrics',
        prompt: `${AT_ONCE}a farewell`,
      });
      const [{ text } = { text: '' }] = words.result.lyrics as { text: string }[];
      const tune = await harness.made({
        model: 'tune-music',
        prompt: `${AT_ONCE}Acoustic folk with a fiddle`,
        lyrics: text,
        duration: 30,
      });
      const cover = await harness.made({
        model: 'tune-music-cover',
        source_task_id: tune.id,
        instruction: `${AT_ONCE}As a waltz`,
      });
      const stems = await harness.made({ model: 'tune-music-stems', source_task_id: cover.id });
      expect(stems.result.tracks[0]).toMatchObject({ mime_type: 'application/zip' });
      expect(before - (await available())).toBe(300_000n);
    },
    PATIENCE_MS,
  );

  it(
    'saves a singer and a model, and makes songs with each; mixes two tracks of one task',
    async () => {
      const song = await harness.made({ model: 'song-music', prompt: `${AT_ONCE}a song` });
      const [persona, model] = await Promise.all([
        harness.made({ model: 'song-persona', source_task_id: song.id, name: 'The night singer' }),
        harness.made({
          model: 'song-custom-model',
          name: `${AT_ONCE}Mine`,
          audio_urls: [1, 2, 3, 4, 5, 6].map((number) => `${AUDIO}?${number}`),
        }),
      ]);
      const made = await Promise.all([
        harness.made({
          model: 'song-music',
          prompt: `${AT_ONCE}sung`,
          persona_task_id: persona.id,
        }),
        harness.made({
          model: 'song-music',
          prompt: `${AT_ONCE}modelled`,
          custom_model_task_id: model.id,
        }),
        harness.made({
          model: 'song-mashup',
          source_task_ids: [song.id, song.id],
          source_indexes: [1, 2],
          gen_description: `${AT_ONCE}both`,
        }),
      ]);
      for (const { result } of made) expect(result.tracks).toHaveLength(2);
      await harness.gateway.expectCleanBooks();
    },
    PATIENCE_MS,
  );
});
