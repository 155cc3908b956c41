import { readForm } from '../../src/sandbox/http/request-body.js';
import { AUDIO_SAMPLES } from '../contract/audio-samples.js';
import { type SeenRequest, StubUpstream } from './stub-upstream.js';

const TRANSCRIPT = {
  language_code: 'eng',
  language_probability: 0.9,
  text: 'Hi there',
  words: [
    { text: 'Hi', type: 'word', start: 0, end: 0.4, speaker_id: 'speaker_0' },
    { text: ' ', type: 'spacing', start: 0.4, end: 0.5, speaker_id: 'speaker_0' },
    { text: 'there', type: 'word', start: 0.5, end: 0.9, speaker_id: 'speaker_0' },
  ],
  additional_formats: [
    { requested_format: 'srt', is_base64_encoded: false, content: '1\n00:00:00,000 --> x\nHi\n' },
  ],
};
const ALIGNED = { words: [{ text: 'Hi', start: 0, end: 0.4, loss: 0.1 }], loss: 0.2 };

/** A provider of all audio that answers at once, whatever the length of what it gets. */
export async function startStubProvider(): Promise<StubUpstream> {
  const stub = await StubUpstream.start();
  stub.reply = (response, { url }) => {
    const { pathname, searchParams } = new URL(url, stub.url);
    if (pathname === '/v1/speech-to-text') response.end(JSON.stringify(TRANSCRIPT));
    else if (pathname === '/v1/forced-alignment') response.end(JSON.stringify(ALIGNED));
    else response.end(sampleOf(searchParams.get('output_format') ?? 'mp3'));
  };
  return stub;
}

function sampleOf(outputFormat: string): Buffer {
  const [format] = outputFormat.split('_') as [keyof typeof AUDIO_SAMPLES];
  return AUDIO_SAMPLES[format];
}

/** The JSON object a provider got. */
export function jsonSeen({ body }: SeenRequest): Record<string, unknown> {
  return JSON.parse(body.toString()) as Record<string, unknown>;
}

/** The form a provider got: its text fields, and the bytes of its file. */
export async function formSeen({
  headers,
  body,
}: SeenRequest): Promise<{ fields: Record<string, string>; file: Buffer | undefined }> {
  const form = await readForm(body, headers['content-type']);
  const [file] = form?.files.values() ?? [];
  return { fields: Object.fromEntries(form?.fields ?? []), file };
}
