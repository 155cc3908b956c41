import { Module } from '@nestjs/common';
import { ExecutionsModule } from '../billing/calls/executions.module.js';
import { MediaModule } from '../media/media.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { AlignmentService } from './alignment.service.js';
import { AudioQuotes } from './audio-quotes.js';
import { DialogueService } from './dialogue.service.js';
import { IsolationService } from './isolation.service.js';
import { MusicCompositionService } from './music-composition.service.js';
import { PaidAudio } from './paid-audio.js';
import { SoundEffectsService } from './sound-effects.service.js';
import { SpeechService } from './speech.service.js';
import { TranscriptionService } from './transcription/transcription.service.js';
import { VoiceChangerService } from './voice-changer.service.js';
import { RecordingsController } from './recordings.controller.js';
import { SoundsController } from './sounds.controller.js';
import { SpokenTextController } from './spoken-text.controller.js';
import { SizedWav } from './wav/sized-wav.js';

/** The synchronous audio endpoints. */
@Module({
  imports: [ExecutionsModule, MediaModule, TasksModule],
  controllers: [SpokenTextController, RecordingsController, SoundsController],
  providers: [
    PaidAudio,
    AudioQuotes,
    SizedWav,
    SpeechService,
    DialogueService,
    TranscriptionService,
    AlignmentService,
    VoiceChangerService,
    IsolationService,
    SoundEffectsService,
    MusicCompositionService,
  ],
})
export class AudioModule {}
