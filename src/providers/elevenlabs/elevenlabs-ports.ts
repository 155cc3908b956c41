import { ProviderHttp } from '../http/provider-http.js';
import { keyHeader, type ProviderContext } from '../http/provider-context.js';
import type { ProviderPorts } from '../ports/provider-ports.js';
import { ElevenLabsAudio } from './elevenlabs-audio.adapter.js';
import { ElevenLabsDubbing } from './elevenlabs-dubbing.adapter.js';
import { ElevenLabsTranscript } from './elevenlabs-transcript.adapter.js';

/** Everything that a provider with the ElevenLabs wire protocol can do. */
export function elevenLabsPorts(access: ProviderContext): ProviderPorts {
  const http = new ProviderHttp(access, {
    headers: keyHeader(access, 'xi-api-key'),
  });
  const audio = new ElevenLabsAudio(http);
  const transcript = new ElevenLabsTranscript(http);
  return {
    speech: audio,
    dialogue: audio,
    transcription: transcript,
    alignment: transcript,
    'voice-change': audio,
    isolation: audio,
    'sound-effect': audio,
    composition: audio,
    dubbing: new ElevenLabsDubbing(http),
  };
}
