/** Five processes under Node, each with its own MongoDB user, joined by the gateway. */
import { fiveProcessesKeepTheirPromises } from '../five-processes-story.ts';

fiveProcessesKeepTheirPromises('node');
