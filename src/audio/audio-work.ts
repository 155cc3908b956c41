import type { JsonObject } from '../common/json-object.js';
import type { AttemptContext } from '../providers/ports/attempt.js';
import type {
  CompositionCommand,
  DialogueCommand,
  IsolationCommand,
  ProviderAudio,
  SoundEffectCommand,
  SpeechCommand,
  VoiceChangeCommand,
} from '../providers/ports/audio.port.js';
import type { PortByOperation } from '../providers/ports/provider-ports.js';
import type {
  AlignmentCommand,
  AlignmentResult,
  TranscriptionCommand,
  TranscriptionResult,
} from '../providers/ports/transcript.port.js';
import { viewAlignment } from './alignment.view.js';
import type { TranscriptionBody } from './dto/recordings.body.js';
import { viewTranscript } from './transcription/transcription.view.js';
import { timingsField } from './transcription/wanted-timings.js';

/** What the operations whose answer is audio order of a provider. */
export interface SoundCommands {
  speech: SpeechCommand;
  dialogue: DialogueCommand;
  'voice-change': VoiceChangeCommand;
  isolation: IsolationCommand;
  'sound-effect': SoundEffectCommand;
  composition: CompositionCommand;
}
export type SoundOperation = keyof SoundCommands;

/** What the operations whose answer is data order, and what they get. */
export interface ReadingCommands {
  transcription: TranscriptionCommand;
  alignment: AlignmentCommand;
}
export interface Readings {
  transcription: TranscriptionResult;
  alignment: AlignmentResult;
}
/** How a transcript is shown: to whom asked so, of a recording of this length. */
export type Transcribed = Readonly<{ body: TranscriptionBody; durationSeconds: number }>;
export type ReadingOperation = keyof ReadingCommands;

/** The synchronous operations of audio. */
export type AudioCallOperation = SoundOperation | ReadingOperation;

type Ask<O extends AudioCallOperation, C, R> = (
  port: PortByOperation[O],
  command: C,
  context: AttemptContext,
) => Promise<R>;

/** Asks a provider for audio. */
export const SOUND_WORK: {
  readonly [O in SoundOperation]: Ask<O, SoundCommands[O], ProviderAudio>;
} = {
  speech: (port, command, context) => port.speak(command, context),
  dialogue: (port, command, context) => port.speakDialogue(command, context),
  'voice-change': (port, command, context) => port.changeVoice(command, context),
  isolation: (port, command, context) => port.isolate(command, context),
  'sound-effect': (port, command, context) => port.makeSound(command, context),
  composition: (port, command, context) => port.compose(command, context),
};

/** Asks a provider for what is in a recording, and shows the answer. */
export const READING_WORK: {
  readonly [O in ReadingOperation]: {
    readonly ask: Ask<O, ReadingCommands[O], Readings[O]>;
    readonly view: (result: Readings[O], shown: JsonObject) => object;
    /** The fields that the provider's model cannot do as they are asked, by their public names. */
    readonly lacks: (
      port: PortByOperation[O],
      command: ReadingCommands[O],
      upstreamModel: string,
    ) => readonly string[];
    /** The name by which this caller sent such a field. */
    readonly sentName: (field: string, shown: JsonObject) => string;
  };
} = {
  transcription: {
    ask: (port, command, context) => port.transcribe(command, context),
    view: (result, shown) => {
      const { body, durationSeconds } = shown as unknown as Transcribed;
      return viewTranscript(result, body, durationSeconds);
    },
    lacks: (port, command, model) => port.lacks?.(command, model) ?? [],
    sentName: (field, shown) => {
      const { body } = shown as unknown as Transcribed;
      if (field === 'file') return body.audio_url === undefined ? field : 'audio_url';
      return field === 'timestamps' ? timingsField(body) : field;
    },
  },
  alignment: {
    ask: (port, command, context) => port.align(command, context),
    view: viewAlignment,
    lacks: () => [],
    sentName: (field) => field,
  },
};
