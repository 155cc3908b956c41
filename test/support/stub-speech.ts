import { AUDIO_SAMPLES } from '../contract/audio-samples.js';
import { StubUpstream } from './stub-upstream.js';

/** The beginning of an MP3 answer, longer than what the gateway looks at before it sends on. */
export const MP3_HEAD = AUDIO_SAMPLES.mp3;

/** Settings that make a stub the provider of all audio. */
export function servedBy(stub: { readonly url: string }): NodeJS.ProcessEnv {
  return { ELEVENLABS_API_KEY: 'stub-provider-key', ELEVENLABS_BASE_URL: stub.url, SANDBOX: 'off' };
}

/** A stub provider of speech that answers `bytes` at once until told otherwise. */
export async function startStubSpeech(bytes: Buffer = MP3_HEAD): Promise<StubUpstream> {
  const stub = await StubUpstream.start();
  stub.reply = (response) => response.end(bytes);
  return stub;
}
