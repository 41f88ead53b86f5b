# A small published folder, as tests of import need one; to be sourced after tests/common.sh, in
# the work folder.

# published_marian FOLDER: a Marian model of the language "backwards" (words_backwards), of random
# weights: config.json, two SentencePiece models, one list, safetensors.
published_marian() {
    mkdir "$1"
    printf 'model small\nuse transformer\nconst layers = 1, d_model = 8, d_ff = 8, heads = 2\n' >made.tfg
    for side in source target; do
        "$tfc" train made.tfg --source train.src --target train.tgt --vocab auto:24 --steps 1 --out made.$side 2>err.txt || fail "$(cat err.txt)"
        cp made.$side/vocab.model "$1/$side.spm"
    done
    awk 'BEGIN { printf "{\"</s>\": 0, \"<unk>\": 1"
         n = split("a b c d e f g h ▁ ▁a ▁b ▁c ▁d ▁e ▁f ▁g ▁h", p, " ")
         for (i = 1; i <= n; i++) printf ", \"%s\": %d", p[i], i + 1
         printf ", \"<pad>\": %d}\n", n + 2 }' >"$1/vocab.json"
    cat >"$1/config.json" <<'END'
{
  "model_type": "marian", "vocab_size": 20, "d_model": 16,
  "encoder_layers": 1, "decoder_layers": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24,
  "encoder_attention_heads": 2, "decoder_attention_heads": 2, "dropout": 0.1,
  "activation_function": "swish", "scale_embedding": true,
  "decoder_start_token_id": 19, "eos_token_id": 0, "pad_token_id": 19, "torch_dtype": "float32"
}
END
    printf 'model made\nuse "%s/models/marian.tfg"\nconst vocab = 20, d_model = 16, d_ff = 24, heads = 2\nconst encoder_layers = 1, decoder_layers = 2, absent = 19\n' "$root" >made.tfg
    "$tfc" train made.tfg --source train.src --target train.tgt --vocab "$1" --token 'begin=<pad>' --steps 1 --out made 2>err.txt || fail "$(cat err.txt)"
    "$tfc" export made -o "$1/model.safetensors"
}
