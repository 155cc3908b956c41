import { ProviderHttp } from '../http/provider-http.js';
import { keyHeader, type ProviderContext } from '../http/provider-context.js';
import type { ProviderPorts } from '../ports/provider-ports.js';
import { ElevenLabsAlignment } from './elevenlabs-alignment.adapter.js';
import { ElevenLabsComposition } from './elevenlabs-composition.adapter.js';
import { ElevenLabsDialogue } from './elevenlabs-dialogue.adapter.js';
import { ElevenLabsDubbing } from './elevenlabs-dubbing.adapter.js';
import { ElevenLabsIsolation } from './elevenlabs-isolation.adapter.js';
import { ElevenLabsSoundEffect } from './elevenlabs-sound-effect.adapter.js';
import { ElevenLabsSpeech } from './elevenlabs-speech.adapter.js';
import { ElevenLabsTranscription } from './elevenlabs-transcription.adapter.js';
import { ElevenLabsVoiceChange } from './elevenlabs-voice-change.adapter.js';

/** Everything that a provider with the ElevenLabs wire protocol can do. */
export function elevenLabsPorts(access: ProviderContext): ProviderPorts {
  const http = new ProviderHttp(access, {
    headers: keyHeader(access, 'xi-api-key'),
  });
  return {
    speech: new ElevenLabsSpeech(http),
    dialogue: new ElevenLabsDialogue(http),
    transcription: new ElevenLabsTranscription(http),
    alignment: new ElevenLabsAlignment(http),
    'voice-change': new ElevenLabsVoiceChange(http),
    isolation: new ElevenLabsIsolation(http),
    'sound-effect': new ElevenLabsSoundEffect(http),
    composition: new ElevenLabsComposition(http),
    dubbing: new ElevenLabsDubbing(http),
  };
}
