// Vim's keys, fetched only by those who choose them.
import { vim } from "@replit/codemirror-vim";

export const vimKeys = () => vim({ status: true });
