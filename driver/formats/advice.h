/* What messages about a file of weights advise, behind what is wrong. */
#ifndef DRIVER_FORMATS_ADVICE_H
#define DRIVER_FORMATS_ADVICE_H

/* Of a file that is cut off or damaged. */
#define FETCH_AGAIN ": download or copy it again"
/* Of a pickle that needs code of Python's to be read. */
#define SAVE_STATE ": save the model's state_dict() alone (torch.save)"
#define PICKLE_DAMAGED(what) "the pickle is damaged: " what FETCH_AGAIN

#endif
