import type { AlignmentPort } from './alignment.port.js';
import type { ChatPort } from './chat.port.js';
import type { CompositionPort } from './composition.port.js';
import type { DialoguePort } from './dialogue.port.js';
import type { DubbingPort } from './dubbing.port.js';
import type { ImagePort } from './image.port.js';
import type { IsolationPort } from './isolation.port.js';
import type { SongPort } from './song.port.js';
import type { SoundEffectPort } from './sound-effect.port.js';
import type { SpeechPort } from './speech.port.js';
import type { TranscriptionPort } from './transcription.port.js';
import type { VideoPort } from './video.port.js';
import type { VoiceChangePort } from './voice-change.port.js';

/** The port of every operation, under its name in the catalog. */
export interface PortByOperation {
  chat: ChatPort;
  image: ImagePort;
  speech: SpeechPort;
  dialogue: DialoguePort;
  transcription: TranscriptionPort;
  alignment: AlignmentPort;
  'voice-change': VoiceChangePort;
  isolation: IsolationPort;
  'sound-effect': SoundEffectPort;
  composition: CompositionPort;
  dubbing: DubbingPort;
  song: SongPort;
  video: VideoPort;
}

/** What one provider can do: the operations of its wire protocol. */
export type ProviderPorts = Partial<PortByOperation>;
