import { Module } from '@nestjs/common';
import { TasksModule } from '../tasks/tasks.module.js';
import { MusicController } from './music.controller.js';
import { SongBodyPipe } from './dto/song-body.pipe.js';
import { KeptSongSteps } from './kept-song-steps.js';
import { MusicService } from './music.service.js';
import { SongSources } from './song-sources.js';
import { SongKind } from './song.kind.js';

/** Songs and tunes: one endpoint, one kind of task, 42 models. */
@Module({
  imports: [TasksModule],
  controllers: [MusicController],
  providers: [SongBodyPipe, MusicService, SongSources, SongKind, KeptSongSteps],
})
export class MusicModule {}
